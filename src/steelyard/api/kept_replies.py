"""Answers that are given again while what they are about has not changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from steelyard.api.shown_results import ShownResults

Operation = TypeVar("Operation")

MAX_AGE_S = 1.0
"""No version tells that a process has died, a file was changed, or a run has more rows."""
_RENEWED_AFTER_S = 0.75
_MAX_REPLIES = 512
_MAX_BYTES = 64 * 1024
"""The most bytes of an answer that is kept."""


class Versions(Protocol):
    """Tells versions of the store, of runs and of access apart."""

    def commits(self) -> object:
        """The version of the whole store."""
        ...

    def of_run(self, name: str) -> object:
        """The version of the run that an id, a part of one, or `latest` names."""
        ...

    def of_runs(self) -> object:
        """The version of all runs."""
        ...

    def of_access(self) -> object:
        """The version of who may do what."""
        ...


class NewestCommit:
    """The version of the store, read once for all requests that the event loop has received."""

    def __init__(self) -> None:
        self._known: object = None

    def version(self, versions: Versions) -> object:
        """The version of the store at a time after those requests were sent."""
        if self._known is None:
            self._known = versions.commits()
            asyncio.get_running_loop().call_soon(self._forget)
        return self._known

    def _forget(self) -> None:
        self._known = None


def version_of(versions: Versions, run: str | None) -> object:
    """The version of a run by any of its names; without a name that of all runs."""
    return versions.of_runs() if run is None else versions.of_run(run)


@dataclass(slots=True, kw_only=True)
class KeptReply(Generic[Operation]):
    """What an operation has answered, and when that was."""

    operation: Operation
    run: str | None
    """The name of the run that it is about, as it was asked for; None for several runs."""
    version: object
    """The version of the run, or of all, from before the answer was made."""
    body: bytes
    """JSON that lacks the id of the request."""
    shown: tuple[ShownResults, ...] = ()
    """The records whose results it shows."""
    noted_for: set[str] = field(default_factory=set[str])
    """For whom that is noted."""
    made_at: float
    renew_at: float = 0.0
    right_at: object = None
    """The version of the store at which it was still right."""


class KeptReplies(Generic[Operation]):
    """The bodies of answers by address; used by the event loop alone."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.now = monotonic
        self._kept: dict[bytes, KeptReply[Operation]] = {}

    def find(
        self, address: bytes, versions: Versions, newest: NewestCommit
    ) -> KeptReply[Operation] | None:
        """What was answered at an address, if that is still right.

        Shortly before an answer is too old, one request has to make it anew; others need not wait
        for that.
        """
        kept = self._kept.get(address)
        if kept is None:
            return None
        if self.now() >= kept.renew_at:
            kept.renew_at = kept.made_at + MAX_AGE_S
            return None
        of_store = newest.version(versions)
        if kept.right_at != of_store:
            if version_of(versions, kept.run) != kept.version:
                return None
            kept.right_at = of_store
        return kept

    def keep(self, address: bytes, reply: KeptReply[Operation]) -> None:
        """Keep an answer, unless it is large."""
        if len(reply.body) > _MAX_BYTES:
            return
        if len(self._kept) >= _MAX_REPLIES and address not in self._kept:
            self._kept.clear()
        reply.renew_at = reply.made_at + _RENEWED_AFTER_S
        self._kept[address] = reply
