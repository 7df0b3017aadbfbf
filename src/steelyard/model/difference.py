"""What differs between two versions of one thing."""

from __future__ import annotations

from typing import Literal, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonValue

DifferenceKind: TypeAlias = Literal["added", "removed", "changed"]


class FieldDifference(FrozenStruct, frozen=True, kw_only=True):
    """One field, check, question or record that differs."""

    kind: DifferenceKind
    path: str
    """Where it stands: `checks.right.weight`, `scoring.pass_threshold`, `records.q1.input`."""
    old: JsonValue = None
    new: JsonValue = None
    is_breaking: bool = False
    """Whether it can move scores."""


class Diff(FrozenStruct, frozen=True, kw_only=True):
    """Two versions side by side."""

    old: str
    """The reference or the file of the one."""
    new: str
    differences: tuple[FieldDifference, ...] = ()

    @property
    def is_breaking(self) -> bool:
        """Whether scores under the one may not be compared with scores under the other."""
        return any(difference.is_breaking for difference in self.differences)
