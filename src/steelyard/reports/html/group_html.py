"""Several runs side by side as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.model.statistics.comparison import Comparison
from steelyard.reports.comparison.comparison_text import mismatch_text, points, why_not
from steelyard.reports.html.legible_text import legible
from steelyard.reports.html.single_file import single_files
from steelyard.reports.numbers import counted
from steelyard.reports.run.run_text import RunView
from steelyard.reports.verdict_words import VerdictWord

SHOWN = 200
"""The most records that a file lists of one dataset."""


class GroupedRecord(NamedTuple):
    """A record in every run of its dataset."""

    name: str
    cells: Sequence[VerdictWord | None]
    """By run; None where a run does not have the record."""


class ComparedLine(NamedTuple):
    """A run against the first of its dataset."""

    found: Comparison
    verdict: str
    difference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRuns:
    """The runs of one dataset."""

    views: Sequence[RunView]
    comparisons: Sequence[Comparison] = ()
    different: Sequence[GroupedRecord] = ()
    """The first records on which the runs differ."""
    total: int = 0
    """How many there are."""

    @property
    def name(self) -> str:
        """The id of the dataset."""
        return self.views[0].manifest.setup.dataset_id

    @property
    def lines(self) -> Sequence[ComparedLine]:
        """What a comparison says in one line."""
        return [
            ComparedLine(one, _verdict(one), points(one.corrected or one.passes))
            for one in self.comparisons
        ]


def _verdict(found: Comparison) -> str:
    why = why_not(found) if found.verdict == "cannot be compared" else mismatch_text(found)
    return f"{found.verdict}: {why}" if why else found.verdict


def group_html(datasets: Sequence[DatasetRuns]) -> str:
    """The page; it loads no external resources."""
    number = sum(len(one.views) for one in datasets)
    names = ", ".join(dict.fromkeys(one.name for one in datasets))
    title = f"{counted(number, 'run')} of {names}"
    template = single_files().get_template("group_report.html")
    return legible(template.render(title=title, datasets=datasets, shown=SHOWN))
