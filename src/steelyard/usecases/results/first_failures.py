"""The first records of a run that did not pass, and single rows by their index."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from steelyard.results.predictions import PREDICTIONS, Prediction
from steelyard.results.projections import read_graded
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.pruned_files import pruned_on
from steelyard.usecases.results.read_run import decoded_rows


def first_failures(folder: Path, most: int) -> list[Prediction]:
    """The first rows that did not pass, whole; none where the rows were pruned."""
    if pruned_on(folder, PREDICTIONS):
        return []
    graded = decoded_rows(folder, PREDICTIONS, read_graded)
    places = [row.place for row in islice((row for row in graded if not row.is_passed), most)]
    return _rows(folder, places)


def failed_rows(folder: Path, indices: Sequence[int]) -> list[Prediction]:
    """For each of some records, the first row that did not pass; none where rows were pruned."""
    if pruned_on(folder, PREDICTIONS):
        return []
    found = FolderRecords(folder).repeats(set(indices))
    failed = ([row for row in found[index] if not row.is_passed] for index in indices)
    return [rows[0] for rows in failed if rows]


def _rows(folder: Path, places: Sequence[tuple[int, int]]) -> list[Prediction]:
    found = FolderRecords(folder).repeats({index for index, _ in places})
    by_place = {row.place: row for rows in found.values() for row in rows}
    return [by_place[place] for place in places]
