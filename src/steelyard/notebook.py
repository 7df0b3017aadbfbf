"""What a notebook or a terminal shows of the library: progress, comparisons and findings."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from html import escape
from importlib import import_module
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from steelyard.model.finding import Finding
from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.run.progress_text import ProgressCounts, state_lines

if TYPE_CHECKING:
    from steelyard.engine.activity import Look
    from steelyard.model.run import Result

_EVERY_S = 0.25
_TICK_S = 1.0
_WIDTH = 24


class Findings(list[Finding]):
    """Findings as a list that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from steelyard.reports.html.notebook import findings_output

        return findings_output(self)


class ShownComparison(Comparison):
    """A comparison that a notebook shows as a page."""

    __slots__ = ()

    @classmethod
    def of(cls, found: Comparison) -> ShownComparison:
        """The same comparison."""
        return cls(**{one.name: getattr(found, one.name) for one in fields(found)})

    def _repr_html_(self) -> str:
        from steelyard.reports.html.notebook import comparison_output

        return comparison_output(self)


class ProgressOutput:
    """How far a run has come: an output of a notebook that is replaced, or a line of a terminal.

    Where there is neither, nothing is written; in pytest only where it is asked for.
    """

    def __init__(
        self,
        title: str,
        total: int,
        *,
        is_wanted: bool | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._total = total
        self._now = now
        self._state = ProgressCounts(total, now())
        self._look: Look | None = None
        self._shown = 0.0
        self._is_finished = False
        self._show = None if is_wanted is False else _shower(is_forced=bool(is_wanted))

    def watch(self, look: Look) -> None:
        """Look at the calls of the run each second, so that it says what it waits for."""
        self._look = look
        if self._show:
            self._tick()

    def note(self, result: Result) -> None:
        """Count a result."""
        now = self._now()
        self._state.note(result, now)
        if now - self._shown >= _EVERY_S:
            self._shown = now
            self._draw(is_last=False)

    def finish(self) -> None:
        """Show the final counts."""
        self._is_finished = True
        self._draw(is_last=True)

    def _tick(self) -> None:
        # The loop may be one that a notebook keeps after the run.
        if not self._is_finished:
            self._draw(is_last=False)
            asyncio.get_running_loop().call_later(_TICK_S, self._tick)

    def _draw(self, *, is_last: bool) -> None:
        if self._show:
            state = self._state
            calls = self._look() if self._look and not is_last else None
            said = ", ".join(state_lines(state, calls, self._now()))
            text = f"{self._title}: {state.done} of {self._total}, {said}"
            self._show(text, state.done / max(1, self._total), is_last)


Shower = Callable[[str, float, bool], None]
"""Shows a text and a share; the last one ends the line."""


def _shower(*, is_forced: bool) -> Shower | None:
    if "PYTEST_CURRENT_TEST" in os.environ and not is_forced:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _InNotebook()
    return _InTerminal() if sys.stderr.isatty() else _last_line if is_forced else None


class _InNotebook:
    """One output of a cell, which is replaced; without control codes and without widgets."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, text: str, share: float, is_last: bool) -> None:
        display = import_module("IPython.display").display
        bar = "" if is_last else f'<progress value="{share:.3f}"></progress> '
        data = {"text/plain": text, "text/html": f"<div>{bar}{escape(text)}</div>"}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class _InTerminal:
    """One line that is written over; without control codes, so a shorter one is filled up."""

    def __init__(self) -> None:
        self._length = 0

    def __call__(self, text: str, share: float, is_last: bool) -> None:
        full = round(_WIDTH * min(1.0, share))
        bar = "█" * full + "░" * (_WIDTH - full)
        # A line that wraps could not be written over.
        line = f"{bar} {text}"[: get_terminal_size().columns - 1]
        end = "\n" if is_last else ""
        sys.stderr.write(f"\r{line}{' ' * (self._length - len(line))}{end}")
        sys.stderr.flush()
        self._length = len(line)


def _last_line(text: str, share: float, is_last: bool) -> None:  # noqa: ARG001 - a Shower
    if is_last:
        sys.stderr.write(f"{text}\n")
