"""The records of several finished runs side by side, small enough to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.interval import Interval
from steelyard.reports.run.run_text import bounds_of_run
from steelyard.usecases.results.compare import NOTHING_MORE, Knowledge, load_run
from steelyard.usecases.results.paired_rows import PairedRecord


class GroupRow(NamedTuple):
    """A record in every run."""

    record_id: str | None
    indices: tuple[int | None, ...]
    """By run; None where a run does not have the record."""
    shares: tuple[float | None, ...]
    """The share of its repeats that pass, by run; None where there is no score."""

    @property
    def is_different(self) -> bool:
        """Whether two runs that have scored it differ."""
        return len({share for share in self.shares if share is not None}) > 1

    @property
    def is_incomplete(self) -> bool:
        """Whether a run that has it has no score for it."""
        return any(
            index is not None and share is None
            for index, share in zip(self.indices, self.shares, strict=True)
        )


class RunPair(NamedTuple):
    """Two runs, over the records that both have scored."""

    a: int
    b: int
    worse: int
    better: int
    records: int


class GroupRun(NamedTuple):
    """The rates of a run."""

    run_id: str
    title: str
    pass_rate: Interval
    corrected: CorrectedRate | None
    bounds: str
    """What the rate would be if everything without a score had failed or passed; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """Runs with their records."""

    folders: tuple[Path, ...]
    runs: tuple[GroupRun, ...]
    rows: tuple[GroupRow, ...]
    different: tuple[GroupRow, ...]
    """Those on which the runs differ."""
    incomplete: tuple[GroupRow, ...]
    """Those without a score in a run that has them."""
    pairs: tuple[RunPair, ...]


def group_table(folders: Sequence[Path], known: Knowledge = NOTHING_MORE) -> GroupTable:
    """Several runs side by side; a record is the same where its content is the same."""
    loaded = [load_run(folder, known) for folder in folders]
    keys = dict.fromkeys(key for one in loaded for key in one.records)
    rows = tuple(_row([one.records.get(key) for one in loaded]) for key in keys)
    return GroupTable(
        folders=tuple(folders),
        runs=tuple(
            GroupRun(
                view.run_id,
                view.title,
                view.metrics.pass_rate,
                view.metrics.corrected_pass_rate,
                bounds_of_run(view.metrics),
            )
            for view, _ in loaded
        ),
        rows=rows,
        different=tuple(row for row in rows if row.is_different),
        incomplete=tuple(row for row in rows if row.is_incomplete),
        pairs=tuple(_pair(rows, a, b) for a, b in combinations(range(len(loaded)), 2)),
    )


def _row(records: Sequence[PairedRecord | None]) -> GroupRow:
    named = next((one.record_id for one in records if one and one.record_id is not None), None)
    return GroupRow(
        named,
        tuple(one.index if one else None for one in records),
        tuple(one.passes / one.scored if one and one.scored else None for one in records),
    )


def _pair(rows: Sequence[GroupRow], a: int, b: int) -> RunPair:
    worse = better = known = 0
    for _, _, shares in rows:
        first, second = shares[a], shares[b]
        if first is not None and second is not None:
            known += 1
            worse += second < first
            better += second > first
    return RunPair(a, b, worse, better, known)
