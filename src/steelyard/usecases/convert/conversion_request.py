"""The options and the ports of a conversion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import field

from steelyard.contracts.catalog import Contracts
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_output import MakeDraft, OutputDraft
from steelyard.usecases.convert.source_records import Frames


class ConvertOptions(FrozenStruct, frozen=True, kw_only=True):
    """What to convert, and to what."""

    source: Path
    to: str
    output: Path | None
    """The path of the result; None for stdout."""
    made_from: str | None = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    split: str | None = None
    flatten: bool = False
    force: bool = False


class ConvertPorts(FrozenStruct, frozen=True, kw_only=True):
    """The ports of a conversion."""

    workspace: Workspace
    contracts: Contracts
    frames: Frames
    draft: MakeDraft
    """Create a draft beside its final file."""
    replacing: MakeDraft
    """Create a draft that takes the place of an existing file."""
    scratch: Callable[[], OutputDraft]
    """Create a draft in a temporary file."""
    show: Callable[[bytes], None]
    """Write a result to stdout."""
