"""The responses of a run as reviewers and judges see them, from its artifacts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from steelyard.errors import UsageError
from steelyard.results.manifest import RunSetup
from steelyard.usecases.results.read_run import decoded_rows, is_run_folder, read_run

PREDICTIONS = "predictions.jsonl"
_COMPOSITE = "composite"


class CheckDetails(msgspec.Struct):
    """What review needs of a check's details, which may be anything; the rest is skipped."""

    rubric: Any = None
    results: Any = None
    """Of a composite, what its checks found."""
    disagreement: Any = None
    """Of a jury, how far its members are apart."""
    is_split: Any = None


class CheckRow(msgspec.Struct):
    """What one check found."""

    check: str
    kind: str
    status: str
    passed: bool | None = None
    judge: str | None = None
    answers: Any = None
    details: CheckDetails = msgspec.field(default_factory=CheckDetails)


class _Message(msgspec.Struct):
    role: str


class _Trace(msgspec.Struct):
    messages: list[_Message]


class ResponseRow(msgspec.Struct):
    """A response with what was found in it; its text is skipped unread."""

    index: int
    record_id: str | None
    repeat: int
    status: str
    evaluator_scores: list[CheckRow]
    trace: _Trace | None = None
    score: float | None = None
    passed: bool | None = None
    cluster: str | None = None
    slices: dict[str, list[str]] = msgspec.field(default_factory=dict[str, list[str]])

    @property
    def turns(self) -> int:
        """How many turns there are to ask about: one for each message of the assistant."""
        messages = self.trace.messages if self.trace else []
        return sum(message.role == "assistant" for message in messages)

    def checks(self) -> Iterator[tuple[str, CheckRow, str | None]]:
        """Every check with its name and the rubric within which it stands, composites opened."""
        yield from _checks(self.evaluator_scores, "", None)


def _checks(
    rows: list[CheckRow], before: str, rubric: str | None
) -> Iterator[tuple[str, CheckRow, str | None]]:
    for row in rows:
        name = f"{before}{row.check}"
        yield name, row, rubric
        if row.kind == _COMPOSITE and row.details.results is not None:
            inner = msgspec.convert(row.details.results, list[CheckRow])
            # Evaluators that are composed by hand have no rubric within.
            yield from _checks(inner, f"{name}/", str(row.details.rubric or ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResponses:
    """The responses of a run, by what people call their records."""

    run_id: str
    rubrics: tuple[str, ...]
    """The references of what graded it."""
    pass_threshold: float | None
    """The score that passes, where the run or its suite says one."""
    rows: tuple[ResponseRow, ...]
    names: dict[int, str] = field(repr=False)
    """By index: the id of the record, or its index where no id or not only one fits."""
    places: dict[tuple[str, int], ResponseRow] = field(repr=False)

    def find(self, name: str, repeat: int) -> ResponseRow | None:
        """The response to a record, by its id or else by its index."""
        return self.places.get((name, repeat))

    def is_ambiguous(self, name: str) -> bool:
        """Whether several records have this id, so that none can be meant by it."""
        return sum(row.record_id == name and row.repeat == 0 for row in self.rows) > 1


def read_responses(folder: Path) -> RunResponses:
    """All of them; texts are not kept."""
    manifest = read_run(folder).manifest
    decode = msgspec.json.Decoder(ResponseRow).decode
    rows = tuple(decoded_rows(folder, PREDICTIONS, decode))
    ids = {row.index: row.record_id for row in rows}
    times = Counter(ids.values())
    names = {
        index: name if name is not None and times[name] == 1 else str(index)
        for index, name in ids.items()
    }
    places = {(str(row.index), row.repeat): row for row in rows}
    # An id wins over an index that is written like it.
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
    """The run and those whose responses it grades again: a label of one is about them all.

    A run that was regraded, or whose responses were taken with `--from-run`, is followed as far
    as folders are there.
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
    """The run that the responses come from, and where it may lie."""
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
    """A run in which nobody answered has nothing to look at."""
    if not any(row.trace for row in responses.rows):
        raise UsageError(f"{responses.run_id} has no response to look at")
