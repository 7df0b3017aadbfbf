"""The ports of trace sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import InvalidError
from steelyard.model.audit import AuditEntry
from steelyard.model.trace_set import (
    AddedSpans,
    NewSpan,
    StoredPage,
    StoredTrace,
    TraceSet,
    is_set_name,
)
from steelyard.ports import CallerPorts
from steelyard.usecases.convert.conversion_output import MakeDraft, OutputDraft


class Traces(Protocol):
    """The store of trace sets."""

    def add(self, spans: Sequence[NewSpan], entry: Callable[[str], AuditEntry]) -> AddedSpans:
        """Store spans that are new, with the sets that they need; a new set is logged."""
        ...

    def remove(self, name: str, entry: AuditEntry) -> bool:
        """Remove a set with its traces and log it; False where there is none."""
        ...

    def sets(self) -> Sequence[TraceSet]:
        """Every set by name."""
        ...

    def find_set(self, name: str) -> TraceSet:
        """One set; an error where there is none."""
        ...

    def page(self, name: str, after: int, limit: int) -> StoredPage:
        """The traces of a set that have arrived after another one, with their spans."""
        ...

    def all(self, name: str) -> Iterator[StoredTrace]:
        """The traces of a set in the order of their arrival."""
        ...

    def find(self, name: str, trace_id: str) -> StoredTrace:
        """One trace; an error where there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePorts(CallerPorts):
    """What trace sets need."""

    traces: Traces
    redactor: Callable[[], Redactor]
    """What every span is written through."""
    folder: Path
    """Where the traces of a set are kept while a run grades them."""
    draft: MakeDraft
    """A file of that folder, which only its owner may read; in the place of one of that name."""
    scratch: Callable[[], OutputDraft]
    """A file that goes nowhere."""
    remove_folder: Callable[[Path], None]
    """Remove a folder with all that it holds, if it is there."""

    def created(self, name: str) -> AuditEntry:
        """The log entry of a new set."""
        return self.entry("create_trace_set", name)


def require_set_name(name: str) -> None:
    """Refuse a name that no set can have."""
    if not is_set_name(name):
        raise InvalidError(
            f"a trace set is called by 1 to 100 letters, digits, '_', '-' or '.', not '{name}'"
        )
