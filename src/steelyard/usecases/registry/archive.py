"""Keep a version of a rubric, a judge or a dataset from new runs, for good."""

from __future__ import annotations

from typing import Literal, NamedTuple

from steelyard.errors import ConflictError, NotFoundError
from steelyard.model.audit import Caller
from steelyard.model.published import Published, PublishedKind
from steelyard.model.reference import Reference, exact_name
from steelyard.usecases.registry.registry import RegistryPorts


class Archival(NamedTuple):
    """What became of a version."""

    reference: str
    outcome: Literal["archived", "unchanged"]


def archive(
    ports: RegistryPorts, kind: PublishedKind, name: str, *, caller: Caller | None = None
) -> Archival:
    """Archive a published or saved version; runs that used it stay as they are."""
    ports = ports.called_by(caller)
    reference = exact_name(f"{kind}/{name}")
    entry = ports.entry("archive", reference)
    held = _held(ports, kind, reference)
    if held and held.status == "archived":
        return Archival(reference, "unchanged")
    if held:
        ports.registry.note(held, {**held.beside, "status": "archived"}, entry.at)
        ports.audit.add(entry)
        return Archival(reference, "archived")
    saved = next((one for one in ports.saved.all(kind) if one.reference == reference), None)
    if saved and saved.archived_at:
        return Archival(reference, "unchanged")
    if saved:
        with ports.saved.changing(saved) as change:
            if not _held(ports, kind, reference):
                change.archive(saved, entry)
                return Archival(reference, "archived")
        # It was published meanwhile.
        return archive(ports, kind, name, caller=caller)
    if _is_file(ports, reference):
        raise ConflictError(
            f"{reference} is not published; a file of the project is changed there"
        )
    raise NotFoundError(f"there is no {reference}; name an id with its version")


def _held(ports: RegistryPorts, kind: PublishedKind, reference: str) -> Published | None:
    return next((one for one in ports.registry.all(kind) if one.reference == reference), None)


def _is_file(ports: RegistryPorts, name: str) -> bool:
    reference = Reference.parse(name)
    return reference is not None and ports.references.find(reference).definition is not None
