"""Gates, exit codes and progress."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable
from typing import Any

import pytest
import typer
from msgspec import structs

from fakes.metrics import metrics
from steelyard.cli.running import (
    ProgressLine,
    check_allowed,
    exit_code,
    group_code,
    print_gates,
    require_number,
    stoppable,
)
from steelyard.errors import NotFoundError
from steelyard.model.run import RecordStatus, Result, RunState
from steelyard.model.statistics.interval import Interval
from steelyard.model.verdict import Verdict
from steelyard.usecases.results.gates import Gates
from steelyard.usecases.runs.execute import FinishedRun

LOW = "the lower bound of the pass rate"


def finished(
    status: RunState = "completed",
    *,
    rate: float | None = 0.75,
    low: float | None = 0.3,
    failed: int = 0,
    skipped: int = 0,
    total: int = 100,
) -> FinishedRun:
    found = structs.replace(
        metrics(),
        pass_rate=Interval(rate, low, None, "wilson", total - failed - skipped),
        failed_records=failed,
        skipped_records=skipped,
        total_records=total,
    )
    return FinishedRun(run_id="run_1", status=status, folder="", metrics=found)


@pytest.mark.parametrize(
    ("run", "gates", "code"),
    [
        (finished(), Gates(), 0),
        (finished("failed"), Gates(), 3),
        (finished("cancelled", failed=9), Gates(fail_under=1), 130),
        (finished(), Gates(fail_under=0.75), 0),
        (finished(), Gates(fail_under=0.7501), 1),
        (finished(), Gates(fail_under_low=0.3), 0),
        (finished(), Gates(fail_under=0.5, fail_under_low=0.31), 1),
        (finished(rate=None, low=None), Gates(fail_under=0), 1),
        (finished(failed=1), Gates(), 4),
        (finished(skipped=1), Gates(), 4),
        (finished(failed=1), Gates(fail_under=0.9), 1),
        (finished(failed=2, skipped=1), Gates(allow_failures="3"), 0),
        (finished(failed=2, skipped=2), Gates(allow_failures="3"), 4),
        (finished(failed=29), Gates(allow_failures="29%"), 0),
        (finished(failed=7, total=70), Gates(allow_failures="10%"), 0),
        (finished(failed=8, total=70), Gates(allow_failures="10%"), 4),
        (finished(failed=100), Gates(allow_failures="100%"), 0),
    ],
)
def test_a_run_ends_with_the_code_of_what_became_of_it(
    run: FinishedRun, gates: Gates, code: int
) -> None:
    assert exit_code(run, gates) == code


@pytest.mark.parametrize(
    ("run", "gates", "said"),
    [
        (
            finished(),
            Gates(fail_under=0.75),
            ["gate passed: fail-under looked at the pass rate, 75.0 %, n = 100"],
        ),
        (
            finished(rate=0.79996),
            Gates(fail_under=0.8),
            ["gate failed: the pass rate is 0.79996, below fail-under 0.8; n = 100"],
        ),
        (
            finished(),
            Gates(fail_under_low=0.31),
            [f"gate failed: {LOW} is 0.3, below fail-under-low 0.31; n = 100"],
        ),
        (
            finished(rate=None, low=None, failed=100),
            Gates(fail_under=0.5),
            [
                "gate failed: nothing was evaluated, so there is no rate for fail-under 0.5",
                "100 of 100 record(s) have no score, more than --allow-failures 0",
            ],
        ),
        (
            finished(failed=2, skipped=1, total=1500),
            Gates(allow_failures="0.1%"),
            ["3 of 1,500 record(s) have no score, more than --allow-failures 0.1%"],
        ),
        (finished("cancelled", failed=9), Gates(fail_under=1), []),
        (finished("failed"), Gates(fail_under=1), []),
    ],
)
def test_what_each_gate_looked_at_is_printed(
    run: FinishedRun, gates: Gates, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_gates(run, gates)

    assert capsys.readouterr().err.splitlines() == [f"steelyard: run_1: {line}" for line in said]


@pytest.mark.parametrize("number", [None, 0.0, 0.5, 1.0])
def test_a_gate_is_a_number(number: float | None) -> None:
    assert require_number(number) == number
    with pytest.raises(typer.BadParameter, match="nan is not a number"):
        require_number(float("nan"))


@pytest.mark.parametrize(
    ("codes", "code"),
    [([0], 0), ([0, 4], 4), ([4, 1], 1), ([1, 130, 4], 130), ([130, 3], 3), ([3, 2, 0], 2)],
)
def test_a_group_ends_with_the_worst_of_its_codes(codes: list[int], code: int) -> None:
    assert group_code(codes) == code


@pytest.mark.parametrize("text", ["0", "3", "5%", "12.5%", "100%"])
def test_failures_are_allowed_by_number_or_share(text: str) -> None:
    assert check_allowed(text) == text


@pytest.mark.parametrize("text", ["", "%", "some", "-1", "-5%", "nan", "5%%", "1/2"])
def test_another_allowance_is_wrong_usage(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="a share such as 5%"):
        check_allowed(text)


def result(status: RecordStatus = "evaluated", *, passed: bool | None = None) -> Result:
    verdict = None if passed is None else Verdict(status="evaluated", passed=passed)
    return Result(index=0, record_id="q", status=status, verdict=verdict)


def hurried() -> Callable[[], float]:
    """Time that runs fast enough for a line after every result."""
    return itertools.count(step=6.0).__next__


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (3, "desk: 1 of 3, 1 passed\ndesk: 2 of 3, 1 passed\n"),
        (None, "desk: 1, 1 passed\ndesk: 2, 1 passed\n"),
    ],
)
def test_progress_elsewhere_than_on_a_terminal_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
    total: int | None,
    said: str,
) -> None:
    with ProgressLine("desk", total, is_quiet=False, now=hurried()) as progress:
        progress.note(result(passed=True))
        progress.note(result(passed=False))

    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("is_quiet", [True, False])
def test_progress_is_silent_when_asked_or_when_there_is_nothing_to_wait_for(
    capsys: pytest.CaptureFixture[str], is_quiet: bool
) -> None:
    with ProgressLine("desk", 1, is_quiet=is_quiet) as progress:
        progress.note(result("timeout"))

    assert capsys.readouterr() == ("", "")


def test_progress_counts_records_without_a_score(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressLine("desk", 2, is_quiet=False, now=hurried()) as progress:
        progress.note(result("timeout"))

    assert capsys.readouterr().err == "desk: 1 of 2, 0 passed, 1 without a score\n"


def test_progress_of_a_server_is_what_its_events_say(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressLine("desk", None, is_quiet=False, now=hurried()) as progress:
        progress.reach(3, 0, None)
        progress.reach(7, 2, 10)
        progress.reach(10, 2, None)

    assert capsys.readouterr().err == (
        "desk: 3, all with a score\n"
        "desk: 7 of 10, 2 without a score, 0.3/s, 10 s left\n"
        "desk: 10 of 10, 2 without a score, 0.3/s\n"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_either_signal_stops_a_run_and_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    before: Any = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), stoppable(["run_1"]):
        signal.raise_signal(number)

    assert capsys.readouterr().err == "\nstopped; resume it with: steelyard resume run_1\n"
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_run_without_metrics_passes_no_gate() -> None:
    finished = FinishedRun(run_id="run_1", status="completed", folder="", metrics=None)

    with pytest.raises(NotFoundError, match="no metrics of run_1 are left"):
        exit_code(finished, Gates())
