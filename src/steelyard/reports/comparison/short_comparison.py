"""Runs of a group compared with its first run, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.comparison.comparison_text import mismatch_text, points, why_not
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.numbers import count, p_text

_STYLES = {"better": "good", "worse": "error"}


def short_lines(found: Sequence[Comparison], paint: Paint = plain) -> Iterator[str]:
    """The first run, a line for each other run, and the command that shows more."""
    first = found[0].a
    yield f"compared with {paint(printable(first.title), 'title')}"
    for one in found:
        word = paint(one.verdict, _STYLES.get(one.verdict, "warning"))
        yield f"  {printable(one.b.title)}  {word}  {_numbers(one)}"
        if text := mismatch_text(one):
            yield f"    {paint(text, 'warning')}"
    if len(found) > 1:
        yield f"  p-values are adjusted for {count(len(found))} comparisons (Holm)"
    others = " ".join(one.b.run_id for one in found)
    yield f"  inspect    steelyard compare {first.run_id} {others}"


def _numbers(found: Comparison) -> str:
    if found.verdict == "cannot be compared":
        return why_not(found)
    corrected = f"corrected {points(found.corrected)}, raw " if found.corrected else ""
    held = f"{p_text(found.passes.p_value)}, n = {count(found.passes.n)}"
    return f"{corrected}{points(found.passes)}, {held}"
