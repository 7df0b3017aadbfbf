"""What a user asks of a conversion, and what it needs of the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.contracts.catalog import Contracts
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_output import MakeDraft, OutputDraft
from steelyard.usecases.convert.source_records import Frames


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """What to convert, and to what."""

    source: Path
    to: str
    output: Path | None
    """Where the result stands; None for stdout."""
    made_from: str | None = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    split: str | None = None
    flatten: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertPorts:
    """What a conversion needs of the world."""

    workspace: Workspace
    contracts: Contracts
    frames: Frames
    draft: MakeDraft
    """A draft beside the file that it will be."""
    scratch: Callable[[], OutputDraft]
    """A draft that is nowhere."""
    show: Callable[[bytes], None]
    """Where a result goes that is no file."""
