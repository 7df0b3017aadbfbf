"""What a back-up of a project says of itself."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from steelyard.errors import InvalidError
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.pruned import PRUNED

BACKUP_MANIFEST = "manifest.jsonl"
"""The last member of a back-up: a header, then a line for every other member."""
DATABASE = "steelyard.db"
FORMAT = "steelyard_backup_v1"
_RUN = re.compile(r"run_[0-9A-Z]{26}")
_MOST_NAME = 4096


class BackupHeader(msgspec.Struct, frozen=True, tag="header", tag_field="kind"):
    """The first line of the manifest."""

    format: Literal["steelyard_backup_v1"]
    harness_version: str
    schema_version: int
    created_at: str


class BackupFile(msgspec.Struct, frozen=True, tag="file", tag_field="kind"):
    """A member of the back-up, by its place in the project's data folder."""

    name: str
    sha256: str
    size: int


class BackupLink(msgspec.Struct, frozen=True, tag="link", tag_field="kind"):
    """A second name of an input of a queued run, which earlier back-ups hold; nothing reads it."""

    name: str
    target: str


class BackupSummary(msgspec.Struct, frozen=True):
    """What came of a back-up or was restored from it."""

    files: int
    size: int
    runs: int
    created_at: str
    sha256: str | None = None
    """Of the whole file."""


def is_run_id(name: str) -> bool:
    """Whether a name can be the id of a run, which is also the name of its folder."""
    return bool(_RUN.fullmatch(name))


def require_place(name: str) -> None:
    """Refuse a name that is no place of a project's data folder."""
    parts = name.split("/")
    is_plain = all(part not in {"", ".", ".."} and "\\" not in part for part in parts)
    if not (is_plain and "\0" not in name and len(name) <= _MOST_NAME and _is_place(parts)):
        raise InvalidError(f"the back-up holds {name[:200]!r}, which is no file of a project")


def _is_place(parts: list[str]) -> bool:
    match parts:
        case [one]:
            return one in {DATABASE, PRUNED}
        case ["runs", run_id, name]:
            return is_run_id(run_id) and name in ARTIFACTS
        case ["registry" | "inputs", _, *_]:
            return True
        case _:
            return False
