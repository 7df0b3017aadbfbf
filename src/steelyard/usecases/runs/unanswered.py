"""What became of the records of a run that have no answer to regrade, from its folder."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from steelyard.execution.prepared import NoAnswer
from steelyard.model.run import RecordStatus
from steelyard.results.failures import FAILURE_STATUSES, FAILURES, read_failure
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import Answer, read_answer
from steelyard.usecases.results.read_run import decoded_rows

_REPEATS = 1 << 32
_NOT_ASKED: tuple[RecordStatus, ...] = ("cancelled", "skipped")
_NO_ANSWER = "no answer in "


def has_answer(row: Answer) -> bool:
    """Whether a valid record was asked, or has an answer that nothing has graded yet."""
    return row.status not in _NOT_ASKED or (row.status == "skipped" and row.is_answered)


class Unanswered:
    """The records and repeats of a run that nobody has answered; 12 bytes per row."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._run_id = run_id
        self._places = array("Q")
        self._kinds = array("I")
        self._known: list[NoAnswer | None] = [None]
        """What there is to say; None of a row with an answer."""
        self._numbers: dict[NoAnswer | None, int] = {None: 0}
        for index, repeat, found in self._rows(folder):
            if found not in self._numbers:
                self._numbers[found] = len(self._known)
                self._known.append(found)
            self._places.append(index * _REPEATS + repeat)
            self._kinds.append(self._numbers[found])

    def of(self, index: int, repeat: int) -> NoAnswer | None:
        """What became of a record and repeat without an answer; None of one that has one."""
        place = index * _REPEATS + repeat
        found = bisect_left(self._places, place)
        if found == len(self._places) or self._places[found] != place:
            return self._unknown
        return self._known[self._kinds[found]]

    def counts(self) -> Counter[str]:
        """How many records have no answer in any repeat, by status."""
        counts: Counter[str] = Counter()
        rows = zip(self._places, self._kinds, strict=True)
        for _, repeats in groupby(rows, key=lambda row: row[0] // _REPEATS):
            known = [self._known[kind] for _, kind in repeats]
            if known[0] and all(known):
                counts[known[0].status] += 1
        return counts

    @property
    def _unknown(self) -> NoAnswer:
        """A repeat that was to be made when its run was cancelled without its dataset."""
        return self._made("cancelled", "cancelled", "it has no row")

    def _rows(self, folder: Path) -> Iterator[tuple[int, int, NoAnswer | None]]:
        """What became of each row; failures stand in the same order."""
        failures = decoded_rows(folder, FAILURES, read_failure)
        for row in decoded_rows(folder, PREDICTIONS, read_answer):
            failure = next(failures, None) if row.status in FAILURE_STATUSES else None
            if row.status == "invalid_record":
                continue
            found = None
            if not has_answer(row):
                status: RecordStatus = "skipped" if row.status == "skipped" else "cancelled"
                label = failure.label if failure else "nothing_grades"
                found = self._made(status, label, row.reason or status)
            yield row.index, row.repeat, found

    def _made(self, status: RecordStatus, label: str, why: str) -> NoAnswer:
        is_said = why.startswith(_NO_ANSWER)
        return NoAnswer(status, label, why if is_said else f"{_NO_ANSWER}{self._run_id}: {why}")
