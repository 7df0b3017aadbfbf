"""The HTML page of one run, of two compared runs, or of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.model.statistics.comparison import Comparison
    from steelyard.reports.html.group_html import DatasetRuns, GroupedRecord
    from steelyard.reports.run.run_text import RunView
    from steelyard.reports.verdict_words import VerdictWord
    from steelyard.usecases.results.changed_records import Voted
    from steelyard.usecases.results.compare import Knowledge
    from steelyard.usecases.results.group_table import GroupRow
    from steelyard.usecases.results.paired_runs import PairedRuns


def run_page(view: RunView) -> str:
    """A run with its records."""
    from steelyard.reports.html.run_html import run_html
    from steelyard.results.predictions import PREDICTIONS
    from steelyard.usecases.results.pruned_files import pruned_on
    from steelyard.usecases.results.read_run import read_predictions

    folder = Path(view.folder)
    day = pruned_on(folder, PREDICTIONS)
    return run_html(view, () if day else read_predictions(folder), pruned=day)


def pair_page(runs: PairedRuns, votes: tuple[Voted, Voted] | None = None, gate: str = "") -> str:
    """Two runs with the records that changed."""
    from steelyard.reports.comparison.comparison_view import pair_shares
    from steelyard.reports.html.comparison_html import SHOWN, comparison_html
    from steelyard.usecases.results.changed_records import pair_parts

    parts = pair_parts(runs, SHOWN, votes)
    return comparison_html(runs.found, pair_shares(*runs.counts), parts, gate)


def group_page(
    datasets: Sequence[tuple[Sequence[RunView], Sequence[Comparison]]], known: Knowledge
) -> str:
    """The runs of each dataset side by side, with the records on which they differ."""
    from steelyard.reports.html.group_html import group_html

    return group_html([_dataset_runs(views, found, known) for views, found in datasets])


def _dataset_runs(
    views: Sequence[RunView], found: Sequence[Comparison], known: Knowledge
) -> DatasetRuns:
    from steelyard.reports.html.group_html import SHOWN, DatasetRuns
    from steelyard.usecases.results.group_table import group_table

    if not found:
        return DatasetRuns(views=views)
    table = group_table([Path(view.folder) for view in views], known)
    lines = tuple(_record_lines(table.different[:SHOWN]))
    return DatasetRuns(views=views, comparisons=found, different=lines, total=len(table.different))


def _record_lines(rows: Sequence[GroupRow]) -> Iterator[GroupedRecord]:
    from steelyard.reports.html.group_html import GroupedRecord

    for row in rows:
        index = next(one for one in row.indices if one is not None)
        name = f"record {index}" if row.record_id is None else row.record_id
        cells = zip(row.indices, row.shares, strict=True)
        yield GroupedRecord(name, [None if at is None else _share_word(one) for at, one in cells])


def _share_word(share: float | None) -> VerdictWord:
    from steelyard.reports.numbers import percent
    from steelyard.reports.verdict_words import VerdictWord, passed_word

    if share is None or share in {0.0, 1.0}:
        return passed_word(None if share is None else share == 1.0)
    return VerdictWord("skipped", f"{percent(share)} of its repeats pass")
