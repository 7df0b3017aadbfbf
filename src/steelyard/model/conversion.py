"""What became of rows and fields when a dataset was converted."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct

Outcome: TypeAlias = Literal["invalid", "skipped", "left_out"]
"""Why a row was not written: it is wrong, it is no case of its own, or it cannot be carried."""
OUTCOMES: tuple[Outcome, ...] = ("invalid", "skipped", "left_out")


class Change(NamedTuple):
    """A field that did not come over as it was: it stands elsewhere, or it is lost."""

    field: str
    message: str
    is_lost: bool = True


class Refusal(NamedTuple):
    """Why one row was not written."""

    outcome: Outcome
    reason: str
    kind: str = ""
    """What makes this reason the same as others that differ in a name or a number."""


class ChangedField(FrozenStruct, frozen=True, kw_only=True):
    """A field that did not come over as it was, with how often that happened."""

    field: str
    message: str
    is_lost: bool
    count: int
    first: tuple[str, ...]
    """The first few cases that it happened to."""


class UnwrittenRows(FrozenStruct, frozen=True, kw_only=True):
    """Rows that were not written for one reason."""

    outcome: Outcome
    reason: str
    count: int
    first: tuple[str, ...]
    """The first few of these rows, by id where they have one, else by their place."""


class Conversion(FrozenStruct, frozen=True, kw_only=True):
    """What a conversion did; `read = emitted + invalid + skipped + left_out`, always."""

    source: str
    made_from: str
    """The name of the source's form: a contract, a benchmark or another tool."""
    made_to: str
    files: tuple[str, ...] = ()
    """What was written; nothing when all went to stdout."""
    read: int
    emitted: int
    unwritten: tuple[UnwrittenRows, ...] = ()
    fields: tuple[ChangedField, ...] = ()
    targets: tuple[str, ...] = ()
    """The targets that were written with the cases, to be asked next."""
    is_graded: bool = True
    """Whether something grades one of the cases, as far as their importer knows."""

    def count(self, outcome: Outcome) -> int:
        """How many rows met this outcome."""
        return sum(rows.count for rows in self.unwritten if rows.outcome == outcome)

    @property
    def is_whole(self) -> bool:
        """Whether every case of the source was written."""
        return not (self.count("invalid") or self.count("left_out"))
