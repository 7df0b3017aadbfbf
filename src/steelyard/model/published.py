"""A rubric, a judge or a dataset of which one version is fixed for good."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple, TypeAlias

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra
from steelyard.model.reference import release_numbers

PublishedKind: TypeAlias = Literal["rubric", "judge", "dataset"]
Bump: TypeAlias = Literal["major", "minor", "patch"]

DATASET_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
DATASET_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.+-]*")
_RESERVED = {
    *("con", "prn", "aux", "nul"),
    *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)),
}
"""Names of devices on Windows, which no file may have, whatever follows after a dot."""


class StoredFile(NamedTuple):
    """A file of a published version, found by its content."""

    name: str
    sha256: str
    size: int


class Published(FrozenStruct, frozen=True, kw_only=True):
    """One version as the registry holds it; its content never changes."""

    kind: PublishedKind
    id: str
    version: str | None
    """None for a question rubric, whose id is its version."""
    contract: str
    sha256: str
    """The hash of its content: of what grades or asks, not of how the file is laid out."""
    published_at: str
    source: str
    """The file that it was published from, as people see it from the project's root."""
    files: tuple[StoredFile, ...]
    """The content; of a dataset with a sidecar, both."""
    beside: Extra = field(default_factory=no_extra)
    """What may change under one version: a rubric's status, a judge's validation."""

    @property
    def reference(self) -> str:
        """What refers to it."""
        pin = f"@{self.version}" if self.version else ""
        return f"{self.kind}/{self.id}{pin}"

    @property
    def status(self) -> str:
        """`published`, or `archived` where a new run may not use it."""
        return "archived" if self.beside.get("status") == "archived" else "published"


def dataset_name(text: str) -> tuple[str, str] | None:
    """The id and version of `dataset/id@version`; None when the text is not of that form."""
    kind, _, rest = text.partition("/")
    name, at, version = rest.partition("@")
    is_one = kind == "dataset" and at and DATASET_ID.fullmatch(name)
    return (name, version) if is_one and DATASET_VERSION.fullmatch(version) else None


def unportable_name(name: str, taken: Collection[str]) -> str:
    """Why a new name cannot be a folder of its own on every system; empty if it can."""
    if name in taken:
        return ""
    if name.partition(".")[0].casefold() in _RESERVED:
        return f"'{name}' is the name of a device on Windows"
    if name.endswith("."):
        return f"'{name}' ends in a dot, which Windows leaves out"
    other = next((one for one in taken if one.casefold() == name.casefold()), None)
    same = "which Windows and macOS take for the same name"
    return f"'{name}' differs from the published '{other}' only in case, {same}" if other else ""


def bump_of(old: str, new: str) -> Bump:
    """Which number of a version was raised; a pre-release counts as the release it leads to."""
    before, after = (_core(version) for version in (old, new))
    if before[0] != after[0]:
        return "major"
    return "minor" if before[1] != after[1] else "patch"


def compared_version(version: str, known: list[str]) -> str | None:
    """The release whose scores a version must keep, or whose successor it is.

    The highest below it; where its major version has releases above it alone, the lowest of them.
    """
    own = _core(version)
    releases = [(numbers, one) for one in known if (numbers := release_numbers(one)) is not None]
    below = max((one for one in releases if one[0] < own), default=None)
    above = min((one for one in releases if one[0] > own), default=None)
    is_first = below is None or below[0][0] != own[0]
    if is_first and above and above[0][0] == own[0]:
        return above[1]
    return below[1] if below else None


def version_order(version: str | None) -> tuple[tuple[int, int | str], ...]:
    """By what versions are put in order: number by number, whatever stands between them."""
    parts = re.findall(r"\d{1,18}|[A-Za-z]+", version or "")
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in parts)


def _core(version: str) -> tuple[int, ...]:
    main = re.split(r"[-+]", version, maxsplit=1)[0]
    return tuple(int(part) for part in main.split("."))
