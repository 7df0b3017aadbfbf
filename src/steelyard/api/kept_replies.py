"""Answers that are given again while nothing has changed in the store."""

from __future__ import annotations

import time
from typing import NamedTuple

_MAX_AGE_S = 1.0
"""Whether a process is alive changes without a commit."""
_MAX_REPLIES = 512
_MAX_BYTES = 64 * 1024
"""The most bytes of an answer that is kept."""


class _Kept(NamedTuple):
    changes: int
    until: float
    body: bytes


class KeptReplies:
    """The bodies of answers by address; used by the event loop alone."""

    def __init__(self) -> None:
        self._kept: dict[bytes, _Kept] = {}

    def find(self, address: bytes, changes: int) -> bytes | None:
        """What was answered at an address, if the store is as it was then."""
        kept = self._kept.get(address)
        if kept is None or kept.changes != changes or kept.until < time.monotonic():
            return None
        return kept.body

    def keep(self, address: bytes, changes: int, body: bytes) -> None:
        """Keep an answer that was made when the store had so many changes, or later."""
        if len(body) > _MAX_BYTES:
            return
        if len(self._kept) >= _MAX_REPLIES:
            self._kept.clear()
        self._kept[address] = _Kept(changes, time.monotonic() + _MAX_AGE_S, body)
