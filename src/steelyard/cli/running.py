"""Shared by `run` and `resume`: progress, gates and exit codes."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, cast

import typer

from steelyard.cli.plans import print_graders
from steelyard.cli.terminal import DrawnStderr, for_terminal, show_report
from steelyard.reports.run.progress_text import ProgressCounts, state_lines

if TYPE_CHECKING:
    import asyncio

    from steelyard.engine.activity import Look
    from steelyard.execution.prepared import Prepared
    from steelyard.model.run import Result
    from steelyard.model.statistics.gate import GateResult
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.execute import FinishedRun
    from steelyard.usecases.runs.ports import RunPorts

_PLAIN_EVERY_S = 5.0
_BAR_EVERY_S = 0.1
_TICK_S = 1.0


def exit_code(finished: FinishedRun, gates: Gates) -> int:
    """0 done, 1 a gate failed, 3 the run failed, 4 records without a score, 130 cancelled."""
    if finished.status == "failed":
        return 3
    if finished.status == "cancelled":
        return 130
    failed = [one for one in gate_results(finished, gates) if not one.passed]
    if any(not one.is_missing_scores for one in failed):
        return 1
    return 4 if failed else 0


def print_gates(finished: FinishedRun, gates: Gates) -> None:
    """Print to stderr what each gate checked, and why it failed."""
    for one in gate_results(finished, gates):
        if one.is_missing_scores:
            show_report([f"steelyard: {finished.run_id}: {one.reason}"], is_error=True)
        elif not one.passed:
            typer.echo(f"steelyard: {finished.run_id}: gate failed: {one.reason}", err=True)
        elif one.is_named:
            passed = f"gate passed: {one.name} looked at {one.looked_at}"
            typer.echo(f"steelyard: {finished.run_id}: {passed}", err=True)


def gate_results(finished: FinishedRun, gates: Gates) -> tuple[GateResult, ...]:
    """The result of each gate; none for a run that did not finish."""
    from steelyard.errors import NotFoundError
    from steelyard.usecases.results.gates import UNGATED, evaluate_gates

    if finished.status in UNGATED:
        return ()
    if finished.metrics is None:
        raise NotFoundError(f"no metrics of {finished.run_id} are left, so no gate can be passed")
    return tuple(evaluate_gates(finished.metrics, gates))


def group_code(codes: Sequence[int]) -> int:
    """The exit code of several runs: the first of these that occurs."""
    return next(code for code in (2, 3, 130, 1, 4, 0) if code in codes)


def require_number(number: float | None) -> float | None:
    """Reject `nan`, which passes every range check and gate, and `inf`, which JSON cannot hold."""
    if number is not None and not math.isfinite(number):
        raise typer.BadParameter(f"{number} is not a number")
    return number


def share(text: str | float) -> float:
    """Parse a share from 0 to 1, or raise a usage error."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if 0 <= number <= 1:
        return number
    raise typer.BadParameter(f"'{text}' is no share from 0 to 1; write 0.8 for 80 %")


def check_allowed(text: str | None) -> str | None:
    """`N` or `P%`, or a usage error."""
    from steelyard.errors import RequestError
    from steelyard.usecases.results.gates import require_allowed

    try:
        if text is not None:
            require_allowed("it", text)
    except RequestError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    return text


_RESUMABLE = "\nstopped; resume it with: steelyard resume {}"


@contextmanager
def stoppable(started: Sequence[str], left: str = _RESUMABLE) -> Generator[None]:
    """SIGTERM stops a run as Ctrl-C does; after either, print what is left of each run."""

    def stop(_number: int, _frame: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # A background job of a script ignores Ctrl-C, but must not ignore SIGTERM.
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        for run_id in started:
            typer.echo(left.format(run_id, run_id), err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


class ProgressLine:
    """A progress bar on a terminal, occasional lines elsewhere; always on stderr."""

    def __init__(
        self,
        title: str,
        total: int | None,
        *,
        is_quiet: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._is_quiet = is_quiet
        self._bar: Any = None
        self._task: Any = None
        self._now = now
        self._last = now()
        self._text = ""
        self._state = ProgressCounts(total, now())
        self._look: Look | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> ProgressLine:
        if not self._is_quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[counts]}", markup=False),
                TimeElapsedColumn(),
                console=Console(file=cast(IO[str], DrawnStderr())),
            )
            self._task = self._bar.add_task(
                for_terminal(self._title), total=self._state.total, counts=""
            )
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer:
            self._timer.cancel()
        if self._bar:
            self._text = ""  # the last counts stay on the screen
            self._show()
            self._bar.stop()

    def watch(self, look: Look) -> None:
        """Look at the calls of the run each second, so that a line says what it waits for."""
        self._look = look
        if not self._is_quiet:
            self._tick()

    def note(self, result: Result) -> None:
        """Count a result."""
        self._state.note(result, self._now())
        self._show()

    def keep(self, kept: int) -> None:
        """Begin with the results that a resumed run has already."""
        self._state.keep(kept, self._now())

    def reach(self, done: int, failed: int, total: int | None) -> None:
        """Show how far a run on a server has come."""
        self._state.reach(done, failed, total, self._now())
        self._show()

    def _tick(self) -> None:
        self._show()
        import asyncio

        self._timer = asyncio.get_running_loop().call_later(_TICK_S, self._tick)

    def _show(self) -> None:
        if self._is_quiet:
            return
        now, state = self._now(), self._state
        if self._bar:
            if now - self._last >= _BAR_EVERY_S or not self._text:
                self._last = now
                self._text = for_terminal(self._said(now))
            self._bar.update(
                self._task, completed=state.done, total=state.total, counts=self._text
            )
        elif now - self._last >= _PLAIN_EVERY_S:
            self._last = now
            of = "" if state.total is None else f" of {state.total}"
            typer.echo(f"{self._title}: {state.done}{of}, {self._said(now)}", err=True)

    def _said(self, now: float) -> str:
        calls = self._look() if self._look else None
        return ", ".join(state_lines(self._state, calls, now))


def run_one(
    ports: RunPorts,
    prepared: Prepared,
    *,
    is_quiet: bool,
    began: Callable[[str], None] | None = None,
) -> FinishedRun:
    """Execute a run and show its progress; `began` is told its id."""
    from steelyard.event_loop import run_async
    from steelyard.execution.provenance import graders_of
    from steelyard.usecases.runs.derived_runs import planned_counts
    from steelyard.usecases.runs.execute import start_run

    started: list[str] = []

    def note(run_id: str) -> None:
        started.append(run_id)
        if began:
            began(run_id)

    total = planned_counts(prepared)["rows"]
    title = f"{prepared.dataset.id} × {' + '.join(prepared.specs)}"
    print_graders(graders_of(prepared))
    with stoppable(started), ProgressLine(title, total, is_quiet=is_quiet) as progress:
        ports = replace(ports, watch=progress.watch)
        return run_async(lambda: start_run(ports, prepared, note, progress.note))
