"""What judges decided in a run, row by row, from its artifacts alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from steelyard.usecases.results.read_run import decoded_rows

_PREDICTIONS = "predictions.jsonl"
_COMPOSITE = "composite"


class JurorVote(NamedTuple):
    """What one juror says of a response."""

    judge: str
    weight: float
    passed: bool | None
    """None where the juror has no score."""


class Decision(NamedTuple):
    """What one check that asks judges decided about one response."""

    judge: str
    rule: str | None
    """None in runs of versions that did not keep it."""
    fingerprints: tuple[str, ...]
    passed: bool | None
    """None where it has no score."""
    is_skipped: bool = False
    jurors: tuple[JurorVote, ...] = ()
    """In the order in which they sit; empty where there is no jury."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    """A response with what judges decided about it."""

    index: int
    repeat: int
    record_id: str | None
    passed: bool | None
    """The verdict of all checks; None where the record has none."""
    decisions: dict[str, Decision]
    """By check; one within a composite is called after both."""
    slices: dict[str, list[str]]
    cluster: str | None


class _Call(msgspec.Struct):
    fingerprint: str | None = None


class _Juror(msgspec.Struct):
    judge: str = ""
    weight: float = 1.0
    status: str = "scored"
    passed: bool | None = None
    calls: list[_Call] = []

    @property
    def vote(self) -> JurorVote:
        passed = self.passed if self.status == "scored" else None
        return JurorVote(self.judge, self.weight, passed)


class _Details(msgspec.Struct):
    rule: str | None = None
    calls: list[_Call] = []
    items: list[_Call] = []
    jurors: list[_Juror] = []

    def fingerprints(self) -> tuple[str, ...]:
        calls = [*self.calls, *self.items, *(one for voice in self.jurors for one in voice.calls)]
        found = (call.fingerprint for call in calls)
        return tuple(dict.fromkeys(mark for mark in found if mark is not None))


class _Score(msgspec.Struct):
    check: str
    kind: str
    status: str
    passed: bool | None = None
    judge: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"{}")


class _Inner(msgspec.Struct):
    results: list[_Score] = []


class _Trace(msgspec.Struct):
    messages: list[msgspec.Raw] = []


class _Row(msgspec.Struct):
    index: int
    repeat: int
    record_id: str | None
    record_sha256: str | None
    status: str
    passed: bool | None
    evaluator_scores: list[_Score]
    trace: _Trace | None = None
    cluster: str | None = None
    slices: dict[str, list[str]] = {}


class JudgedRows:
    """The rows of a run; once they are all read, what the run was about is known by its hash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._population = hashlib.sha256()

    @property
    def population(self) -> str:
        """The sha256 over all records and responses: what labels of this run are a sample of."""
        return self._population.hexdigest()

    def __iter__(self) -> Iterator[JudgedRow]:
        """Every row, once."""
        decode = msgspec.json.Decoder(_Row).decode
        for row in decoded_rows(self._folder, _PREDICTIONS, decode):
            messages = row.trace.messages if row.trace else []
            self._note(row, messages)
            yield JudgedRow(
                index=row.index,
                repeat=row.repeat,
                record_id=row.record_id,
                passed=row.passed if row.status == "evaluated" else None,
                decisions=dict(_decisions(row.evaluator_scores)),
                slices=row.slices,
                cluster=row.cluster,
            )

    def _note(self, row: _Row, messages: list[msgspec.Raw]) -> None:
        self._population.update(f"{row.record_sha256} {row.repeat} {len(messages)}\n".encode())
        for message in messages:
            self._population.update(bytes(message))


def _decisions(scores: list[_Score], before: str = "") -> Iterator[tuple[str, Decision]]:
    for score in scores:
        name = f"{before}{score.check}"
        if score.kind == _COMPOSITE:
            inner = msgspec.json.decode(score.details, type=_Inner)
            yield from _decisions(inner.results, f"{name}/")
        if score.judge is None:
            continue
        details = msgspec.json.decode(score.details, type=_Details)
        yield (
            name,
            Decision(
                judge=score.judge,
                rule=details.rule,
                fingerprints=details.fingerprints(),
                passed=score.passed if score.status == "scored" else None,
                is_skipped=score.status == "skipped",
                jurors=tuple(juror.vote for juror in details.jurors),
            ),
        )
