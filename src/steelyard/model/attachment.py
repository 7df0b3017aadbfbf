"""A local document that belongs to a case."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.model.json_value import Extra, no_extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file beside the dataset, such as a PDF, with an optional kind and title."""

    path: str
    kind: str | None = None
    title: str | None = None
    text: str | None = None
    """What the document says; None where it is kept by its path alone, or is not there."""
    extra: Extra = field(default_factory=no_extra)
