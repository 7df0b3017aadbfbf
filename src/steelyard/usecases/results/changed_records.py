"""Questions and answers of two runs, record by record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from steelyard.model.labels.votes import ResponseVotes
from steelyard.reports.comparison.record_pair import RecordPair, record_pair
from steelyard.reports.html.comparison_html import PairPart, short_pair
from steelyard.reports.html.short_records import ShortRecord, ShortRecords, text_length
from steelyard.results.predictions import Prediction
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.paired_runs import Pair, PairedRuns

Voted = Mapping[tuple[str, int], ResponseVotes]
NO_VOTES: Voted = {}
_AT_ONCE = 500


def read_pairs(
    folders: tuple[Path, Path],
    pairs: Sequence[Pair],
    votes: tuple[Voted, Voted] = (NO_VOTES, NO_VOTES),
) -> list[RecordPair]:
    """The records of some pairs as both runs answered them, in their order."""
    in_a = FolderRecords(folders[0]).repeats({one.index_a for one in pairs})
    in_b = FolderRecords(folders[1]).repeats({one.index_b for one in pairs})
    found: list[RecordPair] = []
    for one in pairs:
        a, b = in_a[one.index_a], in_b[one.index_b]
        voted = _votes(votes[0], a), _votes(votes[1], b)
        found.append(record_pair(a, b, one.change, voted))
    return found


def pair_parts(
    runs: PairedRuns, most: int, votes: tuple[Voted, Voted] | None = None
) -> list[PairPart]:
    """The records of each outcome: those that got worse, those that got better, others.

    The first ones are whole, the others in short form.
    """
    parts = (
        ("fail", "Worse in B", runs.worse),
        ("pass", "Better in B", runs.better),
        ("", "The same in both", runs.same),
    )
    length = text_length(len(runs.worse) + len(runs.better) + len(runs.same))
    return [
        PairPart(
            kind,
            head,
            read_pairs(runs.folders, pairs[:most], votes or (NO_VOTES, NO_VOTES)),
            ShortRecords(
                records=list(_short_pairs(runs.folders, pairs[most:], length)), most=length
            ),
        )
        for kind, head, pairs in parts
        if pairs
    ]


def _short_pairs(
    folders: tuple[Path, Path], pairs: Sequence[Pair], most: int
) -> Iterator[ShortRecord]:
    """Pairs in short form; only some of them are in memory with all of their texts."""
    for begin in range(0, len(pairs), _AT_ONCE):
        for pair in read_pairs(folders, pairs[begin : begin + _AT_ONCE]):
            yield short_pair(pair, most)


def _votes(votes: Voted, rows: Sequence[Prediction]) -> ResponseVotes | None:
    """The votes on the first repeat that anybody read, by the id of the record or its index."""
    for row in rows:
        for name in (row.record_id, str(row.index)):
            if name is not None and (found := votes.get((name, row.repeat))):
                return found
    return None
