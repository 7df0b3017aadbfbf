"""Notes who has opened the results of which records: they are not blind about these any more."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from steelyard.api.serving import ServedProject
from steelyard.api.shown_results import ShownResults
from steelyard.errors import NotFoundError, UnavailableError, UnreadableFileError
from steelyard.model.access import Identity
from steelyard.model.labels.queue import QueueSource
from steelyard.usecases.review.queues.exposure import ANYBODY
from steelyard.usecases.review.queues.ports import QueuePorts


class Reader(Protocol):
    """Whoever reads an answer or a page."""

    @property
    def served(self) -> ServedProject: ...
    @property
    def identity(self) -> Identity: ...


def viewer_of(reader: Reader) -> str:
    """Under which name it is noted that somebody opened results."""
    has_login = reader.served.settings.has_login
    return reader.identity.actor if has_login else ANYBODY


def _ids(ports: QueuePorts, run_id: str) -> Sequence[str]:
    """The run and those whose responses it grades again."""
    try:
        return ports.source(QueueSource(kind="run", id=run_id)).ids
    except (NotFoundError, UnreadableFileError):
        return (
            run_id,
        )  # its files were pruned or changed, and its numbers are shown all the same


def note_shown(reader: Reader, *shown: ShownResults) -> None:
    """Note that somebody opens results, before they are sent.

    Where the store cannot be written to, results can be read all the same: nobody can submit a
    label then.
    """
    person, noted = viewer_of(reader), reader.served.noted
    for one in shown:
        left = noted.missing(person, one)
        if left is None:
            continue
        with suppress(UnavailableError):
            ports = reader.served.project.queue_ports()
            ports.seen.note(person, _ids(ports, one.run_id), left.indices, ports.clock.stamp())
            noted.add(person, left)
