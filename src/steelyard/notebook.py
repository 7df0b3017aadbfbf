"""What a notebook or a terminal shows of the library: progress, comparisons and findings."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from steelyard.model.finding import Finding
from steelyard.model.statistics.comparison import Comparison

if TYPE_CHECKING:
    from steelyard.model.run import Result

_EVERY_S = 0.25
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

    def __init__(self, title: str, total: int, *, is_wanted: bool | None = None) -> None:
        self._title = title
        self._total = total
        self._counts = {"done": 0, "passed": 0, "unscored": 0}
        self._shown = 0.0
        self._show = None if is_wanted is False else _shower(is_forced=bool(is_wanted))

    def note(self, result: Result) -> None:
        """Count a result."""
        self._counts["done"] += 1
        if result.status == "evaluated":
            self._counts["passed"] += bool(result.verdict and result.verdict.passed)
        else:
            self._counts["unscored"] += 1
        if time.monotonic() - self._shown >= _EVERY_S:
            self._shown = time.monotonic()
            self._draw(is_last=False)

    def finish(self) -> None:
        """Show the final counts."""
        self._draw(is_last=True)

    def _draw(self, *, is_last: bool) -> None:
        if self._show:
            unscored = self._counts["unscored"]
            more = f", {unscored} without a score" if unscored else ""
            done = self._counts["done"]
            text = f"{self._title}: {done} of {self._total}, {self._counts['passed']} passed{more}"
            self._show(text, done / max(1, self._total), is_last)


Shower = Callable[[str, float, bool], None]
"""Shows a text and a share; the last one ends the line."""


def _shower(*, is_forced: bool) -> Shower | None:
    if "PYTEST_CURRENT_TEST" in os.environ and not is_forced:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _InNotebook()
    return _in_terminal if sys.stderr.isatty() else _last_line if is_forced else None


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


def _in_terminal(text: str, share: float, is_last: bool) -> None:
    full = round(_WIDTH * min(1.0, share))
    bar = "█" * full + "░" * (_WIDTH - full)
    end = "\n" if is_last else ""
    sys.stderr.write(f"\r{bar} {text}{end}")
    sys.stderr.flush()


def _last_line(text: str, share: float, is_last: bool) -> None:  # noqa: ARG001 - a Shower
    if is_last:
        sys.stderr.write(f"{text}\n")
