"""The responses of a run as reviewers and judges see them, from its artifacts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.errors import InvalidError
from steelyard.results.manifest import RunSetup
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import ReviewedPrediction, read_reviewed
from steelyard.usecases.results.read_run import decoded_rows, is_run_folder, read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResponses:
    """The responses of a run, by the ids of their records."""

    run_id: str
    rubrics: tuple[str, ...]
    """The references of its rubrics."""
    pass_threshold: float | None
    """The pass threshold, if the run or its suite has one."""
    rows: tuple[ReviewedPrediction, ...]
    names: dict[int, str] = field(repr=False)
    """By index: the id of the record, or its index if the id is missing or not unique."""
    places: dict[tuple[str, int], ReviewedPrediction] = field(repr=False)

    def find(self, name: str, repeat: int) -> ReviewedPrediction | None:
        """The response to a record, by its id or its index."""
        return self.places.get((name, repeat))

    def is_ambiguous(self, name: str) -> bool:
        """Whether several records have this id, so that it is ambiguous."""
        return sum(row.record_id == name and row.repeat == 0 for row in self.rows) > 1


def read_responses(folder: Path) -> RunResponses:
    """All responses, without their texts."""
    manifest = read_run(folder).manifest
    rows = tuple(decoded_rows(folder, PREDICTIONS, read_reviewed))
    ids = {row.index: row.record_id for row in rows}
    times = Counter(ids.values())
    names = {
        index: name if name is not None and times[name] == 1 else str(index)
        for index, name in ids.items()
    }
    places = {(str(row.index), row.repeat): row for row in rows}
    # An id takes precedence over an equal index.
    places |= {(names[row.index], row.repeat): row for row in rows}
    return RunResponses(
        run_id=manifest.run_id,
        rubrics=tuple(one.rubric for one in manifest.setup.rubrics),
        pass_threshold=manifest.setup.options.pass_threshold,
        rows=rows,
        names=names,
        places=places,
    )


def response_runs(folder: Path) -> tuple[str, ...]:
    """The run and those that it regrades: a label of one applies to all of them.

    Runs that were regraded or whose responses were reused are followed as long as their
    folders exist.
    """
    found: list[str] = []
    place: Path | None = folder
    while place is not None and is_run_folder(place):
        manifest = read_run(place).manifest
        if manifest.run_id in found:
            break
        found.append(manifest.run_id)
        parent, place = _parent(manifest.setup, place)
        if parent is not None and (place is None or not is_run_folder(place)):
            found.append(parent)
            break
    return tuple(found)


def _parent(setup: RunSetup, folder: Path) -> tuple[str | None, Path | None]:
    """The run that the responses come from, and its possible folder."""
    derived = setup.derived_from
    if derived and derived.how == "regrade":
        return derived.run_id, _first(derived.folder, folder.parent / derived.run_id)
    path = setup.options.responses or Path()
    if path.name != PREDICTIONS or not path.parent.name:
        return None, None
    run_id = path.parent.name
    return run_id, _first(folder.parent / run_id, path.parent)


def _first(*folders: Path) -> Path:
    return next((one for one in folders if is_run_folder(one)), folders[0])


def require_responses(responses: RunResponses) -> None:
    """Refuse a run without any response."""
    if not any(row.trace for row in responses.rows):
        raise InvalidError(f"{responses.run_id} has no response to look at")
