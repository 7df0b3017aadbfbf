"""What finding and reading finished runs needs from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from steelyard.model.json_value import JsonObject
from steelyard.ports import Warn
from steelyard.results.sealing import Seal
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.records import Records


class KnownRuns(Protocol):
    """The runs that the store of a project knows."""

    def find(self, name: str) -> StoredRun: ...
    def ids(self) -> set[str]: ...
    def done(self, run_id: str) -> Iterator[tuple[int, int]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPorts:
    """Where the finished runs of a project are."""

    base: Path
    """Where relative paths that a user names begin."""
    folder: Path
    """Where the project keeps its runs; it is not there before the first."""
    repository: Callable[[], KnownRuns]
    records: Callable[[str, str], Records]
    """The records of a run that the store keeps, and what to call them."""
    digest: Callable[[Path], Seal]
    judgements: Callable[[Path, int], list[JsonObject]]
    """What judges said about a record of a run, by its folder and the record's index."""
    warn: Warn

    @property
    def runs(self) -> Path:
        """The folder with a folder for each run."""
        return self.folder / "runs"
