"""When Python looks for garbage in cycles, of which imports and records leave little."""

from __future__ import annotations

import gc

_AT_START = (500_000, 20, 50)
_AT_WORK = (20_000, 20, 50)


def put_off_garbage_collection() -> None:
    """Look at nothing that is being loaded: what a command imports stays, and most end soon."""
    gc.set_threshold(*_AT_START)


def tune_garbage_collection() -> None:
    """Look for garbage less often, and never at what is loaded by now: a tenth of a run's CPU.

    Records leave no cycles behind, so that little waits to be found.
    """
    gc.freeze()
    gc.set_threshold(*_AT_WORK)
