"""What running needs from outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from steelyard.contracts.legal_eval.policies import Policies
from steelyard.engine.prompt_template import PromptTemplate
from steelyard.engine.record_work import Ledger
from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RecordStatus, RunState
from steelyard.model.statistics.corrected_rate import Correction
from steelyard.model.unsent import NOTHING
from steelyard.ports import CallerPorts, Sought, Target, Warn, log_warning
from steelyard.results.attempts import Attempt
from steelyard.results.manifest import Harness
from steelyard.results.metrics import Taken
from steelyard.results.sealing import Seal
from steelyard.results.stored_run import StoredRun
from steelyard.settings import MAX_CONCURRENCY

OMIT = "omit"
"""The setting under which what a target cannot be sent is left out."""
_BLOCK = 64
"""Neighbours among the records stay with one process, so many at most."""
_TURNS = 8
"""How often a process has its turn at least, where there are so many records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """A target with what a plan must know of it."""

    name: str
    target: Target
    max_concurrency: int = MAX_CONCURRENCY
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price: tuple[float, float] | None = None
    secrets: tuple[str, ...] = ()
    model: str | None = None
    sampling: JsonObject
    response_source: str = "sampled"
    can_hold: bool = False
    """Whether its protocol has a way to hold a reply to a schema."""
    is_cacheable: bool = False
    """Whether its answer depends on the prompt and its settings alone."""
    covers: Callable[[Sought], bool] | None = None
    """For recordings: whether there is one of a record and repeat."""
    has_replies: Callable[[str, str], bool] | None = None
    """For recorded judges: whether there is a reply about a record and check."""
    replies_sha256: str | None = None
    """What replies as a judge, where no model does: the hash of a recording or of a program."""
    template: PromptTemplate | None = None
    """Its own words around what a case asks."""
    carries: frozenset[str] = NOTHING
    """What it can be sent beside texts."""
    omits: bool = False
    """Whether what it cannot be sent is left out, and the rest is sent."""
    files: tuple[Path, ...] = ()
    """Files of the project that it reads."""
    needs_folder: bool = False
    """Whether it runs code of the project's folder."""
    past: Callable[[int, int], tuple[Attempt, ...]] | None = None
    """For answers that are graded once more: the calls that were made for an index and repeat."""

    def described(self) -> JsonObject:
        """Its settings for the manifest, without secrets."""
        prompt: JsonObject = {"prompt": self.template.text} if self.template else {}
        omits: JsonObject = {"unsupported": OMIT} if self.omits else {}
        return {**self.target.described(), **prompt, **omits}

    @property
    def is_asked(self) -> bool:
        """Whether somebody is called; recordings are found."""
        return self.response_source == "sampled"


class StoredResult(Protocol):
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
    def create(self, run: StoredRun, entry: AuditEntry, warnings: Sequence[str]) -> None: ...
    def move(
        self, run_id: str, state: RunState, at: str, caller: Caller | None = None
    ) -> None: ...
    def claim(self, run: StoredRun, owner: str, at: str, entry: AuditEntry | None) -> bool: ...
    def release(self, run_id: str, at: str) -> None: ...
    def copy_kept(self, parent: str, run_id: str, again: Collection[str]) -> None: ...
    def copied(self, run_id: str) -> Taken: ...
    def interruptions(self, run_id: str) -> Sequence[tuple[str | None, str]]: ...
    def uncounted_calls(self, run_id: str, error_code: str) -> int: ...
    def has_answered(self, run_id: str, target: str) -> bool: ...
    def withdraw(self, run_id: str, labels: Collection[str]) -> None: ...
    def finish(self, run_id: str, state: RunState, at: str, summary: JsonObject) -> None: ...
    def find(self, name: str) -> StoredRun: ...
    def list(self, limit: int) -> Sequence[StoredRun]: ...
    def state_times(self, run_id: str) -> Sequence[tuple[str, str]]: ...
    def redactions(self, run_id: str) -> dict[str, int]: ...
    def request_cancel(self, run_id: str, entry: AuditEntry) -> None: ...
    def is_cancelling(self, run_id: str) -> bool: ...
    def spent_usd(self, run_id: str) -> float: ...
    def answers(self, run_id: str | None) -> Iterator[tuple[bytes, str, int, int]]: ...
    def answer(self, key: bytes, run_id: str, index: int, repeat: int) -> bytes | None: ...
    def done(self, run_id: str) -> Iterator[tuple[int, int]]: ...
    def tried(self, run_id: str) -> dict[tuple[int, int], tuple[int, str]]: ...
    def results(
        self, run_id: str, begin: int = 0, end: int | None = None
    ) -> Iterator[StoredResult]: ...
    def request_parts(self, run_id: str) -> Iterator[tuple[str, bytes]]: ...
    def record_hashes(self, run_id: str) -> Iterator[tuple[int, str | None]]: ...
    def attempt_rows(
        self, run_id: str, begin: int = 0, end: int | None = None
    ) -> Iterator[bytes]: ...


class AskedJudgeRow(Protocol):
    """One judge asked through one target about one thing."""

    @property
    def judge(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...


class Judgements(Protocol):
    """What judges have said, and the answers that wait for them."""

    def answered(self, run_id: str) -> dict[tuple[int, int], bytes]: ...
    def judged(self, run_id: str) -> dict[tuple[int, int], dict[str, bytes]]: ...
    def tried(self, run_id: str) -> dict[tuple[int, int], dict[str, int]]: ...
    def spent_usd(self, run_id: str) -> float: ...
    def keys(self, run_id: str | None) -> Iterator[bytes]: ...
    def reply(self, key: bytes, run_id: str | None) -> bytes | None: ...
    def used(self, run_id: str) -> Iterator[AskedJudgeRow]: ...


class OpenLedger(Ledger, Protocol):
    """A ledger that must be closed."""

    def warn(self, message: str) -> None: ...
    def close(self) -> Awaitable[None]: ...


class ArtifactDraft(Protocol):
    """An artifact that is being written."""

    def write(self, data: bytes) -> None: ...
    def seal(self) -> Seal: ...
    def close(self) -> None: ...


class Artifacts(Protocol):
    """The folder of one run."""

    @property
    def folder(self) -> Path: ...
    def read(self, name: str) -> bytes | None: ...
    def clear_drafts(self) -> None: ...
    def draft(self, name: str) -> ArtifactDraft: ...


class Worker(Protocol):
    """A process that works on a part of a run; it tells what is to be kept, batch by batch."""

    async def read(self) -> bytes:
        """The next batch; nothing when it is through."""
        ...

    def confirm(self) -> None:
        """Its last batch is kept."""
        ...

    def cancel(self) -> None:
        """It shall make no further call, and keep what is left as cancelled."""
        ...

    async def wait(self) -> int:
        """Its exit code; negative when a signal ended it."""
        ...

    def stop(self) -> None:
        """It shall break off its calls, and keep that it has."""
        ...

    def terminate(self) -> None:
        """Ask it to end; what it still wants to be kept is not."""
        ...

    def kill(self) -> None:
        """Stop it."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class WorkerPool(Protocol):
    """Starts the processes that work on parts of runs."""

    def warm(self, count: int) -> None:
        """Start some before there is work for them, so that they are ready sooner."""
        ...

    def start(self, run_id: str, part: Part, targets: Sequence[str]) -> Worker:
        """One that works on a part of a run which this process holds."""
        ...

    def close(self) -> None:
        """End those for which there was no work."""
        ...


class SentBatch(Protocol):
    """What was in a batch of a worker."""

    @property
    def states(self) -> Sequence[RunState]: ...
    @property
    def outcomes(self) -> Sequence[tuple[RecordStatus, bool | None]]: ...
    @property
    def places(self) -> Sequence[tuple[int, int]]: ...


class Register(Protocol):
    """Where the batches of workers are kept; what is awaited is committed."""

    def keep(self, batch: bytes) -> Awaitable[SentBatch]: ...
    def settle(self, holders: str) -> Awaitable[None]: ...
    def close(self) -> Awaitable[None]: ...


class Part(NamedTuple):
    """The records of one process of so many."""

    number: int
    of: int
    block: int = _BLOCK

    @classmethod
    def all_of(cls, count: int, records: int) -> list[Part]:
        """The parts of so many records, which have about as many each."""
        block = min(_BLOCK, max(1, records // (count * _TURNS)))
        return [cls(number, count, block) for number in range(count)]

    def has(self, index: int) -> bool:
        """Whether a record belongs to it."""
        return index // self.block % self.of == self.number

    def holder(self, name: str) -> str:
        """What the claims of one of its loops are kept under."""
        return f"{self.number}/{name}"

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


def no_correction(_folder: Path, _claims: Mapping[str, str]) -> None:
    """Leave the rates of a run as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionPorts(CallerPorts):
    """Everything that executing a planned run needs."""

    root: Path
    repository: RunRepository
    owner: str
    ledger: Callable[[str, Redactor, Callable[[], str]], OpenLedger]
    artifacts: Callable[[str], Artifacts]
    policies: Policies
    """How the rows of legal_eval are put to a target."""
    worker_pool: WorkerPool
    """The processes that work on parts of a run which this process holds."""
    register: Callable[[str], Register]
    """Where what they have found out is kept."""
    on_cancel: Callable[[str, Callable[[], None]], None]
    """Be told, in another thread, when somebody asks for a held run to be cancelled."""
    digest: Callable[[Path], str]
    """The sha256 of a file."""
    environment: dict[str, str]
    """What the manifest says of this machine."""
    harness: Harness
    """What the manifest says of this program."""
    judgements: Judgements
    """What judges have said in the runs of the project."""
    correct: Callable[[Path, Mapping[str, str]], Correction | None] = no_correction
    """The rates of a run corrected for the error of its judges; `claims` are the times at which
    the files of judges say that they were validated."""
    warn: Warn = log_warning
    executing: set[str] = field(default_factory=set[str])
    """The runs that this process is executing now."""
    fix_published: Callable[[Collection[str], Caller], None] = lambda _names, _caller: None
    """Fix the content of rubrics whose files call them published: a run depends on it now."""
