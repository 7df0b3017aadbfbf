"""What a multiple-choice case offers."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.model.json_value import Extra, no_extra


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One of the answers to choose from."""

    id: str
    text: str
    extra: Extra = field(default_factory=no_extra)
