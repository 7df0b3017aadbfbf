"""Counts of converted, refused and changed rows and fields, in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from steelyard.model.conversion import (
    OUTCOMES,
    Change,
    ChangedField,
    Conversion,
    Refusal,
    UnwrittenRows,
)

_FIRST = 3
_REASONS = 100
"""Maximum number of different reasons; further ones are counted together."""
_EACH = 100_000
"""The same where every reason is named."""


@dataclass(slots=True)
class _Count:
    number: int = 0
    first: list[str] = field(default_factory=list[str])

    def add(self, label: str) -> None:
        self.number += 1
        if label and len(self.first) < _FIRST:
            self.first.append(label)

    def take_back(self, label: str) -> None:
        self.number -= 1
        if label in self.first:
            self.first.remove(label)


class Tally:
    """The counts of one conversion."""

    def __init__(self, *, is_bounded: bool = True) -> None:
        self._limit = _REASONS if is_bounded else _EACH
        self.read = 0
        self.emitted = 0
        self._refusals: dict[tuple[str, str], tuple[Refusal, _Count]] = {}
        self._changes: dict[Change, _Count] = {}
        # Most cases change in the same few ways: each case stores the number of its way.
        self._ways: dict[tuple[Change, ...], int] = {}
        self._way_of = array("I")

    def emit(self, label: str, changes: tuple[Change, ...]) -> None:
        """Count a written case and its changed fields."""
        self.emitted += 1
        once = tuple(dict.fromkeys(changes))
        self._way_of.append(self._ways.setdefault(once, len(self._ways)))
        self.change(label, once)

    def take_back(self, position: int, label: str, refusal: Refusal) -> None:
        """Count a written case as refused."""
        self.emitted -= 1
        for change in self._changed(position):
            self._changes[self._bounded(change)].take_back(label)
        self.refuse(label, refusal)

    def refuse(self, label: str, refusal: Refusal) -> None:
        """Count a row that is not written."""
        key = (refusal.outcome, refusal.kind or refusal.reason)
        if key not in self._refusals and len(self._refusals) >= self._limit:
            refusal = Refusal(refusal.outcome, "for other reasons")
            key = (refusal.outcome, refusal.reason)
        self._refusals.setdefault(key, (refusal, _Count()))[1].add(label)

    def change(self, label: str, changes: Iterable[Change]) -> None:
        """Count changed fields."""
        for change in changes:
            self._changes.setdefault(self._bounded(change), _Count()).add(label)

    def _changed(self, position: int) -> tuple[Change, ...]:
        way = self._way_of[position]
        return next(changes for changes, number in self._ways.items() if number == way)

    def _bounded(self, change: Change) -> Change:
        """The change itself, unless there are too many different ones."""
        if change in self._changes or len(self._changes) < self._limit:
            return change
        return Change("other fields", "changed in further ways", change.is_lost)

    def conversion(self, source: str, made_from: str, made_to: str) -> Conversion:
        """The result of the conversion so far."""
        unwritten = [
            UnwrittenRows(
                outcome=refusal.outcome,
                reason=refusal.reason,
                count=counted.number,
                first=tuple(counted.first),
            )
            for refusal, counted in self._refusals.values()
        ]
        fields = [
            ChangedField(
                field=change.field,
                message=change.message,
                is_lost=change.is_lost,
                count=counted.number,
                first=tuple(counted.first),
            )
            for change, counted in self._changes.items()
            if counted.number
        ]
        return Conversion(
            source=source,
            made_from=made_from,
            made_to=made_to,
            read=self.read,
            emitted=self.emitted,
            unwritten=tuple(sorted(unwritten, key=lambda rows: OUTCOMES.index(rows.outcome))),
            fields=tuple(sorted(fields, key=lambda changed: not changed.is_lost)),
        )
