"""The ports of finding and reading finished runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from steelyard.model.json_value import JsonObject
from steelyard.ports import Warn
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.sealing import Seal
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.kept_results import KeptResults
from steelyard.usecases.results.records import Records


class KnownRuns(Protocol):
    """The runs in the store of a project."""

    def find(self, name: str) -> StoredRun: ...
    def ids(self) -> set[str]: ...
    def done(self, run_id: str) -> Iterator[tuple[int, int]]: ...
    def has_results(self, run_id: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPorts:
    """The locations of the finished runs of a project."""

    base: Path
    """The base of relative paths."""
    folder: Path
    """The folder of the project's data; missing before this host has used the project."""
    has_data: Callable[[], bool]
    """Whether the project can have runs: what a server holds needs no folder here."""
    repository: Callable[[], KnownRuns]
    records: Callable[[str, str], Records]
    """The stored records of a run, with a name for messages."""
    digest: Callable[[Path], Seal]
    known_digest: Callable[[Path], Seal]
    """The digest of a file that is read again only when its size or times have changed."""
    judgements: Callable[[Path, int], list[JsonObject]]
    """The judge replies of a record, by run folder and index."""
    warn: Warn
    fetch: Callable[[str, Collection[str]], Path]
    """The folder of a run, with these of its files as far as they were sealed, wherever."""
    kept: KeptResults = field(default_factory=KeptResults)

    @property
    def runs(self) -> Path:
        """The parent folder of the run folders."""
        return self.folder / "runs"

    def run_folder(self, run_id: str, names: Collection[str] = ARTIFACTS) -> Path:
        """The folder of a run, with its files as far as they were sealed."""
        return self.fetch(run_id, names)
