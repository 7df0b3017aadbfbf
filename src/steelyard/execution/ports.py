"""The ports of execution."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

from steelyard.contracts.legal_eval.policies import Policies
from steelyard.engine.activity import Look
from steelyard.engine.prompt_template import PromptTemplate
from steelyard.engine.record_work import Ledger
from steelyard.engine.redaction.redactor import Redactor
from steelyard.engine.sharing.messages import News, Said
from steelyard.execution.parts import Part
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.frozen_struct import FrozenStruct
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
"""The setting that leaves out unsupported content."""


class TargetSpec(FrozenStruct, frozen=True, kw_only=True):
    """A target with the properties that a plan needs."""

    name: str
    target: Target
    max_concurrency: int = MAX_CONCURRENCY
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price: tuple[float, float] | None = None
    """US dollars per million input and output tokens."""
    unpriced: str | None = None
    """The half that its price leaves out, `input` or `output`, whose tokens cost nothing."""
    price_as_of: str | None = None
    """The date of a list price; None for a price of the project."""
    secrets: tuple[str, ...] = ()
    model: str | None = None
    sampling: JsonObject
    response_source: str = "sampled"
    can_hold: bool = False
    """Whether its protocol supports a response schema."""
    is_cacheable: bool = False
    """Whether its answer depends only on the prompt and its settings."""
    covers: Callable[[Sought], bool] | None = None
    """For recorded responses: whether there is one for a record and repeat."""
    has_replies: Callable[[str, str], bool] | None = None
    """For recorded judges: whether there is a reply about a record and check."""
    replies_sha256: str | None = None
    """The hash of the recording or program that replies as a judge, if it is no model."""
    template: PromptTemplate | None = None
    """Its prompt template."""
    carries: frozenset[str] = NOTHING
    """The content other than text that it supports."""
    omits: bool = False
    """Whether what it cannot be sent is left out, and the rest is sent."""
    files: tuple[Path, ...] = ()
    """Files of the project that it reads."""
    needs_folder: bool = False
    """Whether it runs code of the project's folder."""
    resources: Mapping[str, float] = {}
    """What a process that asks it takes of a cluster."""
    past: Callable[[int, int], tuple[Attempt, ...]] | None = None
    """For regraded answers: the attempts of an index and repeat."""

    def described(self) -> JsonObject:
        """Its settings for the manifest, without secrets."""
        prompt: JsonObject = {"prompt": self.template.text} if self.template else {}
        omits: JsonObject = {"unsupported": OMIT} if self.omits else {}
        return {**self.target.described(), **prompt, **omits}

    @property
    def is_asked(self) -> bool:
        """Whether answers are requested, not looked up in a recording."""
        return self.response_source == "sampled"


Answer: TypeAlias = tuple[int, int] | float | News
"""A range of records, US dollars, or what is new about limits, which needs no question."""


class StoredResult(Protocol):
    """A stored result in its serialized forms."""

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
    def release(self, run_id: str, at: str, why: str = "") -> None: ...
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
    """One judge on one target with one question."""

    @property
    def judge(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...


class Judgements(Protocol):
    """Stored judge replies, and answers that wait for judging."""

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
    @property
    def writer(self) -> str | None: ...
    def read(self, name: str) -> bytes | None: ...
    def clear_drafts(self) -> None: ...
    def draft(self, name: str) -> ArtifactDraft: ...


class HolderQuestion(NamedTuple):
    """What a worker asks or tells the process that holds its run."""

    kind: Literal["records", "usd", "limits", "failed"]
    """More records, more of the budget; or it tells of limits or why it cannot go on, and expects
    no answer."""
    usd: float = 0.0
    said: Said | None = None
    why: str = ""


class Worker(Protocol):
    """A process that works on a part of a run and sends its results in batches."""

    async def read(self) -> bytes | HolderQuestion:
        """The next batch or question; empty at the end."""
        ...

    def answer(self, question: HolderQuestion, answer: Answer) -> None:
        """Answer a question."""
        ...

    def confirm(self) -> None:
        """Acknowledge its last batch."""
        ...

    def cancel(self) -> None:
        """Ask it to make no further call and to cancel the remaining records."""
        ...

    async def wait(self) -> int:
        """Its exit code; negative when a signal ended it."""
        ...

    def stop(self) -> None:
        """Ask it to abort its calls and log them."""
        ...

    def terminate(self) -> None:
        """Ask it to end; further batches are discarded."""
        ...

    def kill(self) -> None:
        """Kill it."""
        ...

    def close(self) -> None:
        """Release its resources."""
        ...

    @property
    def why(self) -> str:
        """Why it has ended, as far as it is known here; empty where it has said so itself."""
        ...


class WorkerNeeds(NamedTuple):
    """What the workers of a run need beside their work."""

    resources: Mapping[str, float] = {}
    """What each takes of a cluster."""
    files: Collection[Path] = ()
    """Files of the project that its targets read."""
    warn: Warn = log_warning
    """Shows a warning and keeps it with the run; called in any thread."""


class WorkerPool(Protocol):
    """Starts the processes that work on parts of runs."""

    @property
    def is_remote(self) -> bool:
        """Whether they are on other machines, so that even a single one is started."""
        ...

    def warm(self, count: int) -> None:
        """Start some processes before there is work, so that they are ready sooner."""
        ...

    def start(self, run_id: str, part: Part, targets: Sequence[str], needs: WorkerNeeds) -> Worker:
        """A worker for a part of a run that this process holds."""
        ...

    def close(self) -> None:
        """End the idle processes."""
        ...


class SentBatch(Protocol):
    """The content of a batch of a worker."""

    @property
    def states(self) -> Sequence[RunState]: ...
    @property
    def outcomes(self) -> Sequence[tuple[RecordStatus, bool | None]]: ...
    @property
    def places(self) -> Sequence[tuple[int, int]]: ...


class Register(Protocol):
    """Stores the batches of workers; an awaited batch is committed."""

    def keep(self, batch: bytes) -> Awaitable[SentBatch]: ...
    def warn(self, message: str, at: str) -> None: ...
    def settle(self, holders: str) -> Awaitable[None]: ...
    def close(self) -> Awaitable[None]: ...


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
    """The policies of legal_eval rows."""
    worker_pool: WorkerPool
    """The processes that work on parts of a run which this process holds."""
    register: Callable[[str], Register]
    """Stores their batches."""
    on_cancel: Callable[[str, Callable[[], None]], None]
    """Calls back, from another thread, when a held run shall be cancelled."""
    digest: Callable[[Path], str]
    """The sha256 of a file."""
    environment: dict[str, str]
    """The machine, for the manifest."""
    harness: Harness
    """The Steelyard version, for the manifest."""
    judgements: Judgements
    """Stored judge replies of all runs of the project."""
    require_artifacts: Callable[[], None] = lambda: None
    """Refuse a place for artifacts where no run can be sealed."""
    correct: Callable[[Path, Mapping[str, str]], Correction | None] = no_correction
    """The rates of a run corrected for the error of its judges; `claims` are the times at which
    the files of judges say that they were validated."""
    warn: Warn = log_warning
    watch: Callable[[Look], None] = lambda _look: None
    """Told how to look at the calls of a run that this process executes by itself."""
    executing: set[str] = field(default_factory=set[str])
    """The runs that this process is executing now."""
    fix_published: Callable[[Collection[str], Caller], None] = lambda _names, _caller: None
    """Fix the content of rubrics whose files call them published: a run depends on it now."""
