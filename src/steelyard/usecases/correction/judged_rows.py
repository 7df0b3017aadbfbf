"""The decisions of judges in a run, row by row, from its artifacts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import (
    COMPOSITE,
    SCORED,
    JudgedCheckScore,
    JudgedPrediction,
    JurorScore,
    read_judged,
)
from steelyard.usecases.results.read_run import decoded_rows


class JurorVote(NamedTuple):
    """The decision of one juror on a response."""

    judge: str
    weight: float
    passed: bool | None
    """None if the juror has no score."""


class Decision(NamedTuple):
    """The decision of one judged check on one response."""

    judge: str
    rule: str | None
    """None in runs of versions that did not store it."""
    fingerprints: tuple[str, ...]
    passed: bool | None
    """None if it has no score."""
    is_skipped: bool = False
    jurors: tuple[JurorVote, ...] = ()
    """In the order of the jury; empty without a jury."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRow:
    """A response with the decisions of judges."""

    index: int
    repeat: int
    record_id: str | None
    passed: bool | None
    """The verdict of all checks; None if the record has none."""
    decisions: dict[str, Decision]
    """By check; a check in a composite has the names of both."""
    slices: dict[str, list[str]]
    cluster: str | None


class JudgedRows:
    """The rows of a run; the hash of its content is known once all are read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._population = hashlib.sha256()

    @property
    def population(self) -> str:
        """The sha256 over all records and responses, the population of labels of this run."""
        return self._population.hexdigest()

    def __iter__(self) -> Iterator[JudgedRow]:
        """Every row, once."""
        for row in decoded_rows(self._folder, PREDICTIONS, read_judged):
            self._note(row)
            yield JudgedRow(
                index=row.index,
                repeat=row.repeat,
                record_id=row.record_id,
                passed=row.passed if row.status == "evaluated" else None,
                decisions=dict(_decisions(row.evaluator_scores)),
                slices=row.groups,
                cluster=row.cluster,
            )

    def _note(self, row: JudgedPrediction) -> None:
        messages = row.messages
        self._population.update(f"{row.record_sha256} {row.repeat} {len(messages)}\n".encode())
        for message in messages:
            self._population.update(bytes(message))


def _decisions(scores: list[JudgedCheckScore], before: str = "") -> Iterator[tuple[str, Decision]]:
    for score in scores:
        name = f"{before}{score.check}"
        if score.kind == COMPOSITE:
            yield from _decisions(score.inner(), f"{name}/")
        if score.judge is None:
            continue
        details = score.judged()
        yield (
            name,
            Decision(
                judge=score.judge,
                rule=details.rule,
                fingerprints=details.fingerprints(),
                passed=score.passed if score.status == SCORED else None,
                is_skipped=score.status == "skipped",
                jurors=tuple(map(_vote, details.jurors)),
            ),
        )


def _vote(juror: JurorScore) -> JurorVote:
    passed = juror.passed if juror.status == SCORED else None
    return JurorVote(juror.judge, juror.weight, passed)
