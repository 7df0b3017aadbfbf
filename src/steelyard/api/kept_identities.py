"""Whose keys and sessions were checked a moment ago, while nobody's rights have changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from steelyard.api.kept_replies import NewestCommit, Versions
from steelyard.model.access import Identity

MAX_AGE_S = 1.0
"""No version tells that a key or a session has expired; its last use is noted now and then."""
_MOST = 10_000


class _Known(NamedTuple):
    identity: Identity
    version: object
    commit: object
    """The version of the store at which it was still right."""
    until: float


class KeptIdentities:
    """Identities by the hash of what proves them; used by the event loop alone."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now = monotonic
        self._known: dict[str, _Known] = {}

    def find(self, proof: str, versions: Versions, newest: NewestCommit) -> Identity | None:
        """Whose credential it is, if that was checked and still holds."""
        known = self._known.get(proof)
        if known is None or self._now() >= known.until:
            return None
        commit = newest.version(versions)
        if known.commit != commit:
            if versions.of_access() != known.version:
                return None
            self._known[proof] = known._replace(commit=commit)
        return known.identity

    def keep(self, proof: str, identity: Identity, version: object) -> None:
        """Keep whose credential it is, checked after the version was read."""
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[proof] = _Known(identity, version, None, self._now() + MAX_AGE_S)
