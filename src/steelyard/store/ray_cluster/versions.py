"""What must be the same on every node: a worker and its holder speak without a version."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import NamedTuple


class NodeVersions(NamedTuple):
    """The software of a process."""

    steelyard: str
    python: str
    ray: str

    def refusal(self, node: NodeVersions, name: str) -> str:
        """Why a node cannot work for this process; empty if it can."""
        pairs = zip(("Steelyard", "Python", "ray"), self, node, strict=True)
        wrong = [f"{what} {there}, not {here}" for what, here, there in pairs if here != there]
        return f"the node {name} has {' and '.join(wrong)}" if wrong else ""


def installed_versions() -> NodeVersions:
    """Those of this process."""
    python = ".".join(platform.python_version_tuple()[:2])
    return NodeVersions(version("steelyard"), python, version("ray"))
