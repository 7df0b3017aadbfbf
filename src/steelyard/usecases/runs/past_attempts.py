"""The attempts of a finished run, looked up by record in its folder."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from steelyard.engine.record_work import TARGET_CALL
from steelyard.execution.ports import TargetSpec
from steelyard.execution.provenance import SAMPLING
from steelyard.results.attempts import ATTEMPTS, Attempt, read_attempt, read_attempt_place
from steelyard.results.options import Derived
from steelyard.results.predictions import PREDICTIONS
from steelyard.usecases.results.read_run import decoded_rows, read_run
from steelyard.usecases.runs.ports import RunPorts

_REPEATS = 1 << 32


def played_back(ports: RunPorts, derived: Derived, name: str) -> TargetSpec:
    """A target that replays the answers and attempts of a finished run."""
    spec = ports.recorded(derived.folder / PREDICTIONS, name)
    setup = read_run(derived.folder).manifest.setup
    sampling = {key: value for key in SAMPLING if (value := getattr(setup, key)) is not None}
    return replace(
        spec,
        model=setup.model,
        sampling=sampling,
        past=PastAttempts(derived.folder, derived.run_id).of,
    )


class PastAttempts:
    """Looks up the attempts of a record in a file ordered by record; 16 bytes per row."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._path = folder / ATTEMPTS
        self._run_id = run_id
        self._places = array("Q")
        self._offsets = array("Q")
        offset = 0
        for place, size in decoded_rows(
            folder, ATTEMPTS, lambda row: (read_attempt_place(row), len(row))
        ):
            if place.call == TARGET_CALL and place.index is not None:
                self._places.append(place.index * _REPEATS + (place.repeat or 0))
                self._offsets.append(offset)
            offset += size

    def of(self, index: int, repeat: int) -> tuple[Attempt, ...]:
        """The attempts of a record and repeat, in order."""
        place = index * _REPEATS + repeat
        first = bisect_left(self._places, place)
        last = bisect_left(self._places, place + 1)
        if first == last:
            return ()
        return tuple(map(self._copied, self._rows(self._offsets[first:last])))

    def _rows(self, offsets: array[int]) -> Iterator[Attempt]:
        with self._path.open("rb") as stream:
            for offset in offsets:
                stream.seek(offset)
                yield read_attempt(stream.readline())

    def _copied(self, row: Attempt) -> Attempt:
        """An attempt with the run that made it, unless it already names one."""
        return structs.replace(row, copied_from=row.copied_from or self._run_id)
