"""A comparison as Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.comparison.comparison_text import (
    left_out_of,
    needed_lines,
    points,
    shift,
    verdict_text,
    warnings_of,
)
from steelyard.reports.markdown_text import escaped
from steelyard.reports.numbers import count, counted, p_text, percent
from steelyard.reports.record.record_fold import record_fold
from steelyard.results.predictions import Prediction


def comparison_markdown(
    found: Comparison, gate: str = "", worse: Sequence[Prediction] = ()
) -> str:
    """The verdict, the result of the gate, and the first records that fail in B alone."""
    lines = [
        f"### {escaped(found.b.title)} against {escaped(found.a.title)}: {found.verdict}",
        "",
        *([f"**{escaped(gate)}**", ""] if gate else ()),
        *_table(found),
        "",
        f"`{found.b.run_id}` (B) against `{found.a.run_id}` (A)",
    ]
    if worse:
        total = len(found.regressions)
        first = f"; the first {count(len(worse))}" if len(worse) < total else ""
        lines += ["", f"**Passed in A and not in B: {count(total)}{first}**", ""]
        lines += (line for row in worse for line in record_fold(row))
    return "\n".join(lines).rstrip("\n")


def _table(found: Comparison) -> Iterator[str]:
    yield "| | A | B | B − A (95 % interval) |"
    yield "|---|---|---|---|"
    if one := found.corrected:
        rates = f"{percent(one.rate_a)} | {percent(one.rate_b)}"
        yield f"| corrected pass rate | {rates} | {points(one)} |"
    yield f"| pass rate | {percent(found.a.rate)} | {percent(found.b.rate)} | {_tested(found)} |"
    means = ("–" if side.score is None else f"{side.score:.3f}" for side in (found.a, found.b))
    yield "| score | {} | {} | {} |".format(*means, shift(found.scores))
    yield f"| verdict | | | {escaped(verdict_text(found))} |"
    yield f"| pairs | | | {counted(found.passes.n, 'record')} with a score in both runs |"
    for number, why in left_out_of(found):
        yield f"| left out | | | {count(number)} {why} |"
    for text, _ in warnings_of(found):
        yield f"| not alike | | | {escaped(text)} |"
    if found.verdict == "no difference detectable":
        for line in needed_lines(found):
            yield f"| more | | | {escaped(line)} |"
    for one in found.slices:
        if one.is_flagged:
            name = escaped(f"{one.slice} = {one.value}")
            yield f"| slice {name} | | | {points(one.passes)} |"
    moved = f"{count(len(found.regressions))} worse, {count(len(found.improvements))} better"
    yield f"| records that changed | | | {moved} |"


def _tested(found: Comparison) -> str:
    return f"{points(found.passes)}, {p_text(found.passes.p_value)}, n = {count(found.passes.n)}"
