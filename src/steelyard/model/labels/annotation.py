"""What a person said about a record, as it is kept."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.model.json_value import JsonObject

KeptAs: TypeAlias = Literal["imported", "same", "replaced", "refused"]
"""What became of a label: new, said before, said otherwise before and now history, or not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which annotations are looked for; what is not said is no matter."""

    rubric: str | None = None
    runs: Collection[str] | None = None
    """The ids of runs; an empty one stands for labels that are about no run."""
    annotator: str | None = None
    records: Collection[str] | None = None
    """The ids of records, or their indices where an id does not name one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A row of a label, and the how manieth of the same person about the same thing it is."""

    number: int
    at: str
    row: JsonObject
    is_withdrawn: bool = False
    """Whether the person took it back; it counts no more."""
