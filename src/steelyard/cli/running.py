"""What `run` and `resume` share: progress, the summary, gates and exit codes."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from steelyard.model.run import Result
    from steelyard.usecases.run import FinishedRun

_PLAIN_EVERY_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What a run must reach for exit code 0."""

    fail_under: float | None = None
    fail_under_low: float | None = None
    allow_failures: str = "0"

    @classmethod
    def of(cls, kept: object) -> Gates:
        """The gates as they are kept with a run."""
        return cls(**cast(dict[str, Any], kept))


def exit_code(finished: FinishedRun, gates: Gates) -> int:
    """0 done, 1 a gate failed, 3 the run failed, 4 records without a score, 130 cancelled."""
    if finished.status == "failed":
        return 3
    if finished.status == "cancelled":
        return 130
    metrics = cast(dict[str, Any], finished.metrics)
    if _failed_gate(metrics, gates):
        return 1
    return 4 if _too_few_scores(metrics, gates) else 0


def say_why(finished: FinishedRun, gates: Gates) -> None:
    """Say on standard error why a run that is done does not end with 0."""
    if finished.status in {"failed", "cancelled"}:
        return
    metrics = cast(dict[str, Any], finished.metrics)
    for reason in (_failed_gate(metrics, gates), _too_few_scores(metrics, gates)):
        if reason:
            typer.echo(f"steelyard: {finished.run_id}: {reason}", err=True)


def _failed_gate(metrics: dict[str, Any], gates: Gates) -> str | None:
    """Which gate a run has not reached, if any."""
    rate = metrics["pass_rate"]
    for name, what, bar, reached in (
        ("fail-under", "the pass rate", gates.fail_under, rate["value"]),
        ("fail-under-low", "the lower end of the pass rate", gates.fail_under_low, rate["low"]),
    ):
        if bar is None:
            continue
        if reached is None:
            return f"gate failed: nothing was evaluated, so that there is no rate for {name} {bar}"
        if reached < bar:
            return f"gate failed: {what} is {reached:.6g}, below {name} {bar}"
    return None


def _too_few_scores(metrics: dict[str, Any], gates: Gates) -> str | None:
    """How many records have no score, where they are more than allowed."""
    missing = metrics["failed_records"] + metrics["skipped_records"]
    total, allowed = metrics["total_records"], gates.allow_failures
    if not _is_too_many(missing, total, allowed):
        return None
    return f"{missing:,} of {total:,} record(s) have no score, more than allow-failures {allowed}"


def group_code(codes: Sequence[int]) -> int:
    """The code of several runs: the first of these that occurs."""
    return next(code for code in (2, 3, 130, 1, 4, 0) if code in codes)


def require_number(number: float | None) -> float | None:
    """`nan` lies in no range, and every gate would let it pass."""
    if number is not None and math.isnan(number):
        raise typer.BadParameter("nan is not a number")
    return number


def check_allowed(text: str | None) -> str | None:
    """`N` or `P%`, or a usage error."""
    if text is None:
        return None
    number = text.removesuffix("%")
    try:
        if float(number) >= 0:
            return text
    except ValueError:
        pass
    raise typer.BadParameter("a number of records, or a share such as 5%")


def _is_too_many(missing: int, total: int, allowed: str) -> bool:
    if allowed.endswith("%"):
        # Multiplied, not divided: 29 % of 100 would come out just below 29.
        return missing * 100 > float(allowed[:-1]) * total
    return missing > float(allowed)


@contextmanager
def stoppable(started: Sequence[str]) -> Generator[None]:
    """SIGTERM stops a run as Ctrl-C does; after either, say how to go on."""

    def stop(_number: int, _frame: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # A job that a script has started in the background is spared Ctrl-C, but not this.
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        for run_id in started:
            typer.echo(f"\nstopped; go on with: steelyard resume {run_id}", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


class Progress:
    """A bar on a terminal, a line now and then elsewhere; always on stderr."""

    def __init__(
        self,
        title: str,
        total: int | None,
        *,
        is_quiet: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._total = total
        self._is_quiet = is_quiet
        self._counts = {"done": 0, "passed": 0, "failed": 0}
        self._bar: Any = None
        self._task: Any = None
        self._now = now
        self._last = now()

    def __enter__(self) -> Progress:
        if not self._is_quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[told]}"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task(self._title, total=self._total, told="")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def note(self, result: Result) -> None:
        """One more result."""
        counts = self._counts
        counts["done"] += 1
        if result.status == "evaluated":
            counts["passed"] += bool(result.verdict and result.verdict.passed)
        else:
            counts["failed"] += 1
        if self._is_quiet:
            return
        told = f"{counts['passed']} passed"
        if counts["failed"]:
            told += f", {counts['failed']} without a score"
        if self._bar:
            self._bar.update(self._task, advance=1, told=told)
        elif self._now() - self._last >= _PLAIN_EVERY_S:
            self._last = self._now()
            of = "" if self._total is None else f" of {self._total}"
            typer.echo(f"{self._title}: {counts['done']}{of}, {told}", err=True)
