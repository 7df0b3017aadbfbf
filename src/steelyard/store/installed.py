"""What other installed packages offer; they are looked through once, however much is asked."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import cast

from steelyard.errors import RunError

PLUGIN_GROUPS = (
    "steelyard.checks",
    "steelyard.contracts",
    "steelyard.policies",
    "steelyard.targets",
)
"""The groups of entry points in which packages add to Steelyard."""


def offered(group: str) -> EntryPoints:
    """The entry points of a group."""
    return _all_offered(tuple(sys.path)).select(group=group)


@cache
def _all_offered(_path: tuple[str, ...]) -> EntryPoints:
    # Python 3.11 gives a mapping, which selects as well.
    return cast(EntryPoints, entry_points())


def installed_plugins() -> dict[str, str]:
    """The packages that offer plug-ins, with their versions."""
    points = (point for group in PLUGIN_GROUPS for point in offered(group))
    return {point.dist.name: point.dist.version for point in points if point.dist}


def require_plugins(wanted: Mapping[str, str]) -> None:
    """Refuse to work for a process that has other packages of plug-ins than this one."""
    here = installed_plugins()
    if here == wanted:
        return
    wrong = [
        f"has no {name} {version}"
        if name not in here
        else f"has {name} {here[name]}, not {version}"
        for name, version in sorted(wanted.items())
        if here.get(name) != version
    ]
    wrong += [
        f"has {name} {version}, which the process that holds the run lacks"
        for name, version in sorted(here.items())
        if name not in wanted
    ]
    raise RunError(
        f"plug-ins differ: the node {platform.node()} {'; it '.join(wrong)}; install the same "
        "packages on every node"
    )


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
