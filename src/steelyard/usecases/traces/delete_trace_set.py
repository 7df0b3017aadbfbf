"""Delete a trace set."""

from __future__ import annotations

from steelyard.errors import NotFoundError
from steelyard.model.audit import Caller
from steelyard.usecases.traces.ports import TracePorts, require_set_name


def delete_trace_set(ports: TracePorts, name: str, *, caller: Caller | None = None) -> None:
    """Delete a set with its traces, and what was frozen of them; runs over it stay as they are."""
    require_set_name(name)
    ports = ports.called_by(caller)
    if not ports.traces.remove(name, ports.entry("delete_trace_set", name)):
        raise NotFoundError(f"there is no trace set '{name}'")
    ports.remove_folder(ports.folder / name)
