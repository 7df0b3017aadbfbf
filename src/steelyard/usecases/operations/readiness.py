"""Whether a project can be served and written to."""

from __future__ import annotations

from typing import Protocol

from steelyard.errors import UnavailableError

MIN_FREE_BYTES = 100_000_000
"""Under so much free space a server is not ready: a run would stop in its middle."""


class Readiness(Protocol):
    """What is known of the state of a project's store."""

    def require_own_schema(self) -> None:
        """Refuse a store that is gone, does not answer, or has another schema version."""
        ...

    def free_bytes(self) -> int:
        """The free space where the project's data is."""
        ...


def require_ready(store: Readiness) -> None:
    """Raise an error that says why a project is not ready."""
    store.require_own_schema()
    require_free_space(store)


def require_free_space(store: Readiness) -> None:
    """Raise an error where the disk has too little room for a run."""
    free = store.free_bytes()
    if free < MIN_FREE_BYTES:
        raise UnavailableError(
            f"the disk of the project has {free / 1e6:.0f} MB of free space; make room for at "
            f"least {MIN_FREE_BYTES / 1e6:.0f} MB"
        )
