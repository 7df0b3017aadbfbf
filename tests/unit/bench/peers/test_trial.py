"""Every tool runs in every setting, and nothing is measured twice."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from bench.peers.measurement import Measurements, Setting
from bench.peers.tool import Command, Job, Tool
from bench.peers.trial import CASES, SMALL, Extent, Trial, settings

EXTENT = Extent(few=2, many=4, turns=2)


@contextmanager
def endpoint(delay_ms: int) -> Generator[str]:
    yield f"after {delay_ms} ms"


def counting(jobs: list[Job], code: str = "print(SAMPLES)") -> Tool:
    """A tool that prints how many samples have passed, and notes every job it gets."""

    def command(job: Job) -> Command:
        jobs.append(job)
        return Command((sys.executable, "-S", "-c", code.replace("SAMPLES", str(job.samples))))

    return Tool(
        name="Counting",
        how="by itself",
        install=lambda: "1.0",
        command=command,
        passed=lambda _, output: int(output),
    )


def run(
    folder: Path,
    tools: Mapping[str, Tool],
    extent: Extent,
    version: str = "1.0",
    answered: tuple[str, ...] = ("weeks",),
) -> list[str]:
    """What a trial says whose endpoint counts these answers for each sample."""
    said: list[str] = []
    made = Counter[str]()

    def counted(tool: Tool) -> Tool:
        def command(job: Job) -> Command:
            made.update(dict.fromkeys(answered, job.samples))
            return tool.command(job)

        return replace(tool, command=command)

    Trial(
        tools={name: counted(tool) for name, tool in tools.items()},
        versions=dict.fromkeys(tools, version),
        endpoint=endpoint,
        counted=lambda _: Counter(made),
        kept=Measurements(folder / "kept.json"),
        folder=folder,
        say=said.append,
    ).run(extent)
    return said


def test_the_small_run_comes_first_then_two_sizes_of_each_case() -> None:
    assert list(settings(EXTENT)) == [
        (SMALL,),
        *((Setting(*case, 2), Setting(*case, 4)) for case in CASES),
    ]


def test_the_default_sizes_are_those_of_the_page() -> None:
    assert (Extent().few, Extent().many) == (2_000, 10_000)


def test_tools_take_turns_and_ask_the_same_endpoint(tmp_path: Path) -> None:
    first: list[Job] = []
    second: list[Job] = []

    said = run(tmp_path, {"a": counting(first), "b": counting(second)}, EXTENT)

    assert len(first) == len(second) == 2 * (1 + 2 * len(CASES))
    assert [line.partition(":")[0] for line in said[:4]] == ["a", "b", "a", "b"]
    assert {(job.url, job.at_once) for job in first if job.samples == 4} == {
        (f"after {delay_ms} ms", at_once) for delay_ms, at_once in CASES
    }
    assert said[0].startswith("a: 10 samples, 64 at once, 0 ms: ")


def test_a_second_trial_goes_on_where_the_first_stopped(tmp_path: Path) -> None:
    jobs: list[Job] = []
    run(tmp_path, {"a": counting(jobs)}, EXTENT)
    jobs.clear()

    assert run(tmp_path, {"a": counting(jobs)}, EXTENT) == []
    assert jobs == []


def test_another_version_is_measured_anew(tmp_path: Path) -> None:
    jobs: list[Job] = []
    run(tmp_path, {"a": counting(jobs)}, EXTENT)

    assert len(run(tmp_path, {"a": counting(jobs)}, EXTENT, version="1.1")) == len(jobs) / 2


def test_a_tool_that_has_run_long_enough_gets_no_further_turn(tmp_path: Path) -> None:
    jobs: list[Job] = []

    run(tmp_path, {"a": counting(jobs)}, Extent(few=2, many=4, turns=3, enough_s=0))

    assert len(jobs) == 1 + 2 * len(CASES)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("print(SAMPLES - 1)", "says that 1 of 2 passed"),
        ("import time; time.sleep(600)", "did not end within 0 s"),
    ],
)
def test_a_failure_is_kept_with_its_reason_and_the_larger_size_left_out(
    tmp_path: Path, code: str, reason: str
) -> None:
    jobs: list[Job] = []
    limit_s = 0.3 if "sleep" in code else 60

    said = run(
        tmp_path, {"a": counting(jobs, code)}, Extent(few=2, many=4, turns=1, limit_s=limit_s)
    )

    assert {job.samples for job in jobs} == {10, 2}
    assert said[1] == f"a: 2 samples, 64 at once, 0 ms: {reason}"


@pytest.mark.parametrize(
    ("answered", "made"),
    [
        ((), "none"),
        (("weeks",), "10 weeks"),
        (("judge", "weeks"), "10 judge, 10 weeks"),
        (("other", "weeks"), "10 other, 10 weeks"),
    ],
)
def test_a_run_that_did_not_make_its_calls_does_not_count(
    tmp_path: Path, answered: tuple[str, ...], made: str
) -> None:
    judged = replace(counting([]), answers=("weeks", "judge"), once=("judge",))

    said = run(tmp_path, {"a": judged}, Extent(few=2, many=4, turns=1), answered=answered)

    assert said[0] == (
        f"a: 10 samples, 64 at once, 0 ms: made the calls {made} where 11 judge, 10 weeks were due"
    )


def test_only_the_cases_of_the_extent_are_run(tmp_path: Path) -> None:
    jobs: list[Job] = []
    extent = Extent(few=2, many=4, turns=1, cases=((50, 8),))

    run(tmp_path, {"a": counting(jobs)}, extent)

    assert [(job.samples, job.at_once, job.url) for job in jobs[1:]] == [
        (2, 8, "after 50 ms"),
        (4, 8, "after 50 ms"),
    ]


def test_a_failed_run_is_tried_again_by_the_next_trial(tmp_path: Path) -> None:
    extent = Extent(few=2, many=4, turns=1)
    run(tmp_path, {"a": counting([], "raise SystemExit(3)")}, extent)

    run(tmp_path, {"a": counting([])}, extent)

    kept = Measurements(tmp_path / "kept.json")
    assert kept.failure("a", "1.0", SMALL) == ""
    assert kept.middle("a", "1.0", SMALL)
