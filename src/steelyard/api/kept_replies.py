"""Answers that are given again while what they are about has not changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
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
    """Tells versions of the store and of runs apart."""

    def version(self, run_id: str | None = None) -> object:
        """The version of a run, or of the whole store."""
        ...


@dataclass(slots=True, kw_only=True)
class KeptReply(Generic[Operation]):
    """What an operation has answered, and when that was."""

    operation: Operation
    run_id: str | None
    """The run that it is about; None where it is about several."""
    version: object
    """The version of the run, or of the store, from before the answer was made."""
    body: bytes
    """JSON that lacks the id of the request."""
    shown: tuple[ShownResults, ...] = ()
    """The records whose results it shows."""
    made_at: float
    renew_at: float = 0.0
    right_at: object = None
    """The version of the store at which it was still right."""


class KeptReplies(Generic[Operation]):
    """The bodies of answers by address; used by the event loop alone."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.now = monotonic
        self._kept: dict[bytes, KeptReply[Operation]] = {}
        self._of_store: object = None

    def find(self, address: bytes, versions: Versions) -> KeptReply[Operation] | None:
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
        of_store = self._of_store or self._look(versions)
        if kept.right_at != of_store:
            if versions.version(kept.run_id) != kept.version:
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

    def _look(self, versions: Versions) -> object:
        """The version of the store, for every request that the event loop has received by now."""
        self._of_store = versions.version()
        asyncio.get_running_loop().call_soon(self._forget)
        return self._of_store

    def _forget(self) -> None:
        self._of_store = None
