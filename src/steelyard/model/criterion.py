"""What a criteria rubric asks of an answer, point by point."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.model.json_value import Extra, no_extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One point that an answer meets or does not; a negative weight takes points away."""

    id: str
    title: str
    description: str = ""
    weight: float = 1.0
    extra: Extra = field(default_factory=no_extra)
