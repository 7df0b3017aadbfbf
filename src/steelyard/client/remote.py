"""What a server says of its runs and of what they use; fields that a client lacks are ignored."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from steelyard.model.finding import Finding
from steelyard.model.run import TERMINAL
from steelyard.results.failures import Failure
from steelyard.results.grading_summary import GradingSummary
from steelyard.results.manifest import StateTime
from steelyard.results.metrics import Metrics
from steelyard.results.predictions import Prediction

Item = TypeVar("Item")


class RemotePage(msgspec.Struct, Generic[Item], frozen=True):
    """A part of a list."""

    data: list[Item]
    next_cursor: str | None = None


class RemoteProgress(msgspec.Struct, frozen=True):
    """How far a run has come: a row is a record in one repeat."""

    total: int | None = None
    done: int = 0
    failed: int = 0
    retrying: int = 0


class RemoteRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it stood when it was asked for."""

    run_id: str
    status: str
    created_at: str
    group_id: str | None = None
    dataset_id: str | None = None
    dataset_version: str | None = None
    cancelling: bool = False
    waiting: bool = False
    resumable: bool = False
    unresumable: str | None = None
    states: tuple[StateTime, ...] = ()
    started_at: str | None = None
    completed_at: str | None = None
    progress: RemoteProgress = RemoteProgress()
    target: str | None = None
    grading: GradingSummary | None = None
    """What grades its records, where the server says so."""
    summary: dict[str, Any] | None = None
    derived_from: str | None = None
    pruned: tuple[str, ...] = ()
    """The names of its files that were removed after their retention."""

    @property
    def is_finished(self) -> bool:
        """Whether it has come to its end, whatever that is."""
        return self.status in TERMINAL

    @property
    def is_stopped(self) -> bool:
        """Whether no process works on it any more, though it has not finished."""
        return self.resumable or self.unresumable is not None

    @property
    def metrics(self) -> Metrics | None:
        """Its numbers; None before it has finished, and where they were pruned."""
        return msgspec.convert(self.summary, Metrics) if self.summary else None


class RemoteChange(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is about to start, to go on or to stop."""

    run_id: str
    status: str = "accepted"
    derived_from: str | None = None


class StartedRun(RemoteChange, frozen=True, kw_only=True):
    """A run whose dataset a server has accepted."""

    summary: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    record_errors: tuple[dict[str, Any], ...] = ()
    """The records of the dataset that were rejected, and why."""


class RemoteEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a run: `state`, `progress`, `warning` or `end`."""

    id: int
    kind: str
    data: dict[str, Any]


class RemoteRecord(Prediction, frozen=True, kw_only=True):
    """One record in one repeat, with why it failed and what judges were asked."""

    failure: Failure | None = None
    judgements: tuple[dict[str, Any], ...] = ()


class RemoteArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a finished run."""

    name: str
    size: int
    sha256: str
    pruned_at: str | None = None
    """When it was removed after its retention; None where it can be fetched."""


class RemoteVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a dataset, a rubric or a judge, as lists have it."""

    ref: str
    """What stands for it here: `polite@1.2.0`."""
    reference: str
    """What stands for it in files and on the command line: `rubric/polite@1.2.0`."""
    id: str
    version: str | None
    contract: str | None = None
    status: str
    origin: str
    sha256: str | None = None
    published_at: str | None = None


class RemoteDefinition(RemoteVersion, frozen=True, kw_only=True):
    """The same with its content, or with what was found when it was created."""

    content: dict[str, Any] = {}
    findings: tuple[Finding, ...] = ()
    refers_to: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()


class RemoteReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a file."""

    contract: str | None
    valid: bool
    total: int
    accepted: int
    rejected: int
    findings: tuple[Finding, ...]


class RemoteCaller(msgspec.Struct, frozen=True, kw_only=True):
    """Who the server takes the owner of the key for."""

    actor: str
    role: str
    scopes: tuple[str, ...] = ()
