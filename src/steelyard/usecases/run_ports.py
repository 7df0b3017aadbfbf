"""What running needs from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from steelyard.engine.records import Ledger
from steelyard.engine.redaction import Redactor
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric
from steelyard.model.run import RunState, StoredRun
from steelyard.ports import Clock, Target, Workspace
from steelyard.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """A target with what a plan must know of it."""

    name: str
    target: Target
    max_concurrency: int = 16
    price: tuple[float, float] | None = None
    secrets: tuple[str, ...] = ()
    model: str | None = None
    sampling: JsonObject
    response_source: str = "sampled"
    covers: Callable[[Case, int], bool] | None = None
    """For recordings: whether there is one of a case and repeat."""


class KeptResult(Protocol):
    """A stored result in the forms in which it was kept."""

    @property
    def prediction(self) -> bytes: ...
    @property
    def validation(self) -> bytes: ...
    @property
    def failure(self) -> bytes | None: ...
    @property
    def facts(self) -> bytes: ...
    @property
    def repeat(self) -> int: ...


class RunRepository(Protocol):
    """The runs of a project."""

    def close(self) -> None: ...
    def create(self, run: StoredRun) -> None: ...
    def move(self, run_id: str, state: RunState, at: str) -> None: ...
    def claim(self, run: StoredRun, owner: str) -> bool: ...
    def release(self, run_id: str) -> None: ...
    def finish(self, run_id: str, state: RunState, at: str, summary: JsonObject) -> None: ...
    def find(self, name: str) -> StoredRun: ...
    def list(self, limit: int) -> Sequence[StoredRun]: ...
    def state_times(self, run_id: str) -> Sequence[tuple[str, str]]: ...
    def redactions(self, run_id: str) -> int: ...
    def done(self, run_id: str) -> Iterator[tuple[int, int]]: ...
    def tried(self, run_id: str) -> dict[tuple[int, int], tuple[int, str]]: ...
    def results(self, run_id: str) -> Iterator[KeptResult]: ...
    def record_hashes(self, run_id: str) -> Iterator[tuple[int, str]]: ...
    def attempt_rows(self, run_id: str) -> Iterator[bytes]: ...


class OpenLedger(Ledger, Protocol):
    """A ledger that must be closed."""

    def close(self) -> Awaitable[None]: ...


class Sealing(Protocol):
    """What the manifest says of a file."""

    @property
    def sha256(self) -> str: ...
    @property
    def size(self) -> int: ...


class Draft(Protocol):
    """An artifact that is being written."""

    def write(self, data: bytes) -> None: ...
    def seal(self) -> Sealing: ...
    def close(self) -> None: ...


class Artifacts(Protocol):
    """The folder of one run."""

    @property
    def folder(self) -> Path: ...
    def read(self, name: str) -> bytes | None: ...
    def clear_drafts(self) -> None: ...
    def draft(self, name: str) -> Draft: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDoor:
    """Everything that starting and resuming runs needs."""

    workspace: Workspace
    root: Path
    settings: Settings
    repository: RunRepository
    clock: Clock
    new_run_id: Callable[[], str]
    owner: str
    is_alive: Callable[[str], bool]
    """Whether the process that an owner names still runs on this host."""
    ledger: Callable[[str, Redactor, Callable[[], str]], OpenLedger]
    artifacts: Callable[[str], Artifacts]
    target: Callable[[str], TargetSpec]
    """A target by its name in the project file."""
    candidates: Callable[[Path], Sequence[str]]
    """The names of the candidates of a response file."""
    recorded: Callable[[Path, str | None], TargetSpec]
    """The target that answers as a candidate of a response file did; the first when unnamed."""
    conversation: Callable[[], TargetSpec]
    """The target whose answer is the last assistant message of the case itself."""
    rubric: Callable[[str], Rubric]
    """A rubric by reference or path."""
    digest: Callable[[Path], str]
    """The sha256 of a file."""
    environment: JsonObject
    """What the manifest says of this machine."""
    harness: JsonObject
    """What the manifest says of this program."""
