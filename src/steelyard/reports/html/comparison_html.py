"""A comparison as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.comparison.comparison_view import ComparisonView, comparison_view
from steelyard.reports.comparison.record_pair import AnsweredRecord, RecordPair
from steelyard.reports.figures import Share
from steelyard.reports.html.legible_text import legible
from steelyard.reports.html.short_records import ShortRecord, ShortRecords, shortened_to
from steelyard.reports.html.single_file import single_files
from steelyard.reports.numbers import count, counted
from steelyard.reports.page_budget import limited_page
from steelyard.reports.verdict_words import VerdictWord

SHOWN = 200
"""The most records of each outcome that a file shows whole."""


class PairPart(NamedTuple):
    """Records with the same outcome."""

    kind: str
    """`fail`, `pass` or empty."""
    head: str
    pairs: Sequence[RecordPair]
    """The first ones, whole."""
    short: ShortRecords
    """The others."""

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.pairs) + len(self.short.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    """What the template shows."""

    title: str
    view: ComparisonView
    shares: Sequence[Share]
    parts: Sequence[PairPart]
    gate: str
    """The result of the gate; empty without one."""
    is_read: bool
    """Whether people have read answers of the runs."""
    made: Sequence[str]


def short_pair(pair: RecordPair, most: int) -> ShortRecord:
    """A record of both runs in short form."""
    sides = (("A", pair.a), ("B", pair.b))
    return ShortRecord(
        name=pair.name,
        verdicts=tuple(
            VerdictWord(side.word.kind, f"{name}: {side.word.word}") for name, side in sides
        ),
        question=shortened_to(pair.asked, most),
        texts=tuple((f"Answer of {name}", _said(side, most)) for name, side in sides),
    )


def _said(side: AnsweredRecord, most: int) -> str:
    if side.answer is None:
        return shortened_to(f"no answer: {side.reason or 'nothing was said'}", most)
    return shortened_to(side.answer, most) or "an empty answer"


def comparison_html(
    found: Comparison, shares: Sequence[Share], parts: Sequence[PairPart], gate: str = ""
) -> str:
    """The page; it loads no external resources."""
    page = ComparisonPage(
        title=f"{found.b.title} against {found.a.title}",
        view=comparison_view(found, SHOWN),
        shares=shares,
        parts=parts,
        gate=gate,
        is_read=any(
            side.votes for part in parts for pair in part.pairs for side in (pair.a, pair.b)
        ),
        made=tuple(_made(found)),
    )
    with limited_page():
        return legible(single_files().get_template("comparison.html").render(page=page))


def _made(found: Comparison) -> Iterator[str]:
    """How the numbers came about, in sentences."""
    yield (
        f"A has {counted(found.a.records, 'record')}, B has {count(found.b.records)}. A record is "
        "the same in both where its content is the same; records are compared one by one, and "
        f"{counted(found.passes.n, 'record')} with a score in both count."
    )
    yield "A difference is B minus A in percentage points of the pass rate, with a 95 % interval."
    if found.passes.test:
        article = "an" if found.passes.test[0] in "aeiou" else "a"
        yield f"The raw difference is tested by {article} {found.passes.test}."
    if found.corrected:
        yield (
            f"People read {count(found.corrected.labels_a)} answers of A and "
            f"{count(found.corrected.labels_b)} of B without seeing a verdict. Where they and the "
            f"judge differ, the rates are corrected ({found.corrected.method}), and the verdict "
            "rests on the corrected difference."
        )
    yield (
        "p-values of slices are adjusted for all slices (Benjamini and Hochberg): of those below "
        "0.05, one in twenty is expected by chance."
    )
    yield f"`steelyard compare {found.a.run_id} {found.b.run_id}` makes the same again."
