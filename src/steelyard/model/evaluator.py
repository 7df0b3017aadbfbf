"""How an eval case asks to be graded."""

from __future__ import annotations

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra

UNGRADED = "none"
"""The default evaluator of a case that nothing grades."""


class RubricItem(FrozenStruct, frozen=True, kw_only=True):
    """One statement that a judge finds true or false of an answer."""

    id: str
    description: str
    weight: float = 1.0
    required: bool = True
    extra: Extra = field(default_factory=no_extra)


class Evaluator(FrozenStruct, frozen=True, kw_only=True):
    """One entry of a case's evaluator list, its type in today's spelling."""

    name: str
    type: str
    weight: float = 1.0
    prompt: str | None = None
    """The judge's instruction: the text itself, or the text of the file at `prompt_path`."""
    prompt_path: str | None = None
    rubrics: tuple[RubricItem, ...] = ()
    members: tuple[Evaluator, ...] = ()
    """The evaluators that a composite combines."""
    settings: Extra = field(default_factory=no_extra)
    """Everything else, as written."""
