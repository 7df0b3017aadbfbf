"""What running needs from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from steelyard.checks.catalog import Catalog
from steelyard.contracts.legal_eval.policies import Policies
from steelyard.engine.records import Ledger
from steelyard.engine.redaction import Redactor
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric
from steelyard.model.run import RunState, StoredRun
from steelyard.ports import Clock, Target, Workspace
from steelyard.settings import Settings
from steelyard.usecases.references import References

_BLOCK = 64
"""Neighbours among the records stay with one process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """A target with what a plan must know of it."""

    name: str
    target: Target
    max_concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price: tuple[float, float] | None = None
    secrets: tuple[str, ...] = ()
    model: str | None = None
    sampling: JsonObject
    response_source: str = "sampled"
    is_cacheable: bool = False
    """Whether its answer depends on the prompt and its settings alone."""
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
    def adopt(self, run_id: str, fence: int) -> None: ...
    def finish(self, run_id: str, state: RunState, at: str, summary: JsonObject) -> None: ...
    def find(self, name: str) -> StoredRun: ...
    def list(self, limit: int) -> Sequence[StoredRun]: ...
    def state_times(self, run_id: str) -> Sequence[tuple[str, str]]: ...
    def redactions(self, run_id: str) -> dict[str, int]: ...
    def request_cancel(self, run_id: str) -> None: ...
    def on_cancel(self, run_id: str, callback: Callable[[], None]) -> None: ...
    def is_cancelling(self, run_id: str) -> bool: ...
    def spent_usd(self, run_id: str) -> float: ...
    def answer_keys(self, run_id: str | None) -> Iterator[bytes]: ...
    def answer(self, key: bytes, run_id: str | None) -> bytes | None: ...
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


class Worker(Protocol):
    """A process that was started; what it writes is one byte for each thing that happens."""

    async def read(self) -> bytes:
        """What it has written since; nothing when it is through."""
        ...

    async def wait(self) -> int:
        """Its exit code."""
        ...

    def terminate(self) -> None:
        """Ask it to stop."""
        ...

    def kill(self) -> None:
        """Stop it."""
        ...


class Part(NamedTuple):
    """The records of one process of so many."""

    number: int
    of: int

    def has(self, index: int) -> bool:
        """Whether a record belongs to it."""
        return index // _BLOCK % self.of == self.number

    def limited(self, spec: TargetSpec) -> TargetSpec:
        """A target with the part of its limits that this process may use."""
        return replace(
            spec,
            max_concurrency=max(1, spec.max_concurrency // self.of),
            requests_per_minute=self.share(spec.requests_per_minute),
            tokens_per_minute=self.share(spec.tokens_per_minute),
        )

    def share(self, limit: float | None) -> float | None:
        """An equal part of a limit."""
        return None if limit is None else limit / self.of


WHOLE = Part(0, 1)


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
    rubric: Callable[[str, bool], Rubric]
    """A rubric by reference or path; whether it must be one that strict mode takes."""
    catalog: Catalog
    """The kinds of checks."""
    policies: Policies
    """How the rows of legal_eval are put to a target."""
    references: References
    """The rubrics and judges that cases may refer to."""
    start_worker: Callable[[str, Part, Sequence[str]], Awaitable[Worker]]
    """A process that works on a part of a run which this process holds."""
    digest: Callable[[Path], str]
    """The sha256 of a file."""
    environment: JsonObject
    """What the manifest says of this machine."""
    harness: JsonObject
    """What the manifest says of this program."""
    secrets: tuple[str, ...] = ()
    """The keys and header values of all targets of the project."""
