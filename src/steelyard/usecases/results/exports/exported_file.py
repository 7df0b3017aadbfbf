"""A file of an export."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class ExportedFile(NamedTuple):
    """A file within the folder of an export, with its text a piece at a time."""

    path: str
    pieces: Iterable[str]
