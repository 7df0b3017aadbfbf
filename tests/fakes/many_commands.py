"""Many commands, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fakes.warm_command import Done, run_warm

__all__ = ["Done", "run_many"]


def run_many(folder: Path, commands: Iterable[Sequence[str]]) -> list[Done]:
    """What each command says and exits with, in a folder."""
    return [run_warm(folder, *words) for words in commands]
