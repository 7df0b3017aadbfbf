"""Cases with an id and a version."""

from __future__ import annotations

from msgspec import field

from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra


class Dataset(FrozenStruct, frozen=True, kw_only=True):
    """What one file (with its sidecar) holds, in the order of the file."""

    id: str
    contract: str
    version: str | None = None
    description: str = ""
    cases: tuple[Case, ...] = ()
    metadata: Extra = field(default_factory=no_extra)
    extra: Extra = field(default_factory=no_extra)
    """What the file carries beside its cases and the fields above, under its own names."""
