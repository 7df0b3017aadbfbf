"""Cases with an id and a version."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.model.case import Case
from steelyard.model.json_value import Extra, no_extra


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """What one file (with its sidecar) holds, in the order of the file."""

    id: str
    contract: str
    version: str | None = None
    description: str = ""
    cases: tuple[Case, ...] = ()
    metadata: Extra = field(default_factory=no_extra)
    extra: Extra = field(default_factory=no_extra)
    """What the file carries beside its cases and the fields above, under its own names."""
