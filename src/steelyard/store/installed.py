"""What other installed packages offer; they are looked through once, however much is asked."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import cast


def offered(group: str) -> EntryPoints:
    """The entry points of a group."""
    return _all_offered(tuple(sys.path)).select(group=group)


@cache
def _all_offered(_path: tuple[str, ...]) -> EntryPoints:
    # Python 3.11 gives a mapping, which selects as well.
    return cast(EntryPoints, entry_points())


def environment() -> dict[str, str]:
    """What a run is executed on."""
    if sys.platform == "linux":
        # There `uname -p` knows nothing more, and would be a process of its own.
        vars(platform.uname())["processor"] = ""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "implementation": sys.implementation.name,
    }
