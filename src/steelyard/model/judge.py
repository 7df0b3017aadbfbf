"""A versioned instruction for a model that judges."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra

ScoreType: TypeAlias = Literal["binary", "continuous", "levels"]
COMPARED = ("output_a", "output_b")
"""The template variables of a judge that compares two answers."""


class Validation(FrozenStruct, frozen=True, kw_only=True):
    """How well a judge agreed with people, on which labels and when."""

    tpr: float | None = None
    """The share of good answers that the judge passes."""
    tnr: float | None = None
    """The share of bad answers that the judge fails."""
    validated_against: str | None = None
    validated_at: str | None = None
    sample_size: int | None = None
    extra: Extra = field(default_factory=no_extra)


class Judge(FrozenStruct, frozen=True, kw_only=True):
    """A template, what its score means, and how far it can be trusted where."""

    id: str
    version: str
    template: str
    score_type: ScoreType = "continuous"
    level_names: tuple[str, ...] = ()
    """Of a judge that names a level, the names from worst to best."""
    validation: Validation | None = None
    applicable_to: tuple[str, ...] | None = None
    """The domains where it has been validated; None when it does not say."""
    description: str = ""
    sha256: str | None = None
    """The hash of its content, however the file is laid out; None for a judge made in code."""
    extra: Extra = field(default_factory=no_extra)

    @property
    def name(self) -> str:
        """Its reference."""
        return f"judge/{self.id}@{self.version}"
