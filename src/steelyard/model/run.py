"""What a run keeps: results and its states."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from msgspec.structs import asdict

from steelyard.errors import NotFoundError
from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict

RunState: TypeAlias = Literal[
    "queued",
    "validating",
    "running",
    "retrying",
    "finalizing",
    "completed",
    "completed_with_failures",
    "failed",
    "cancelled",
]
TERMINAL: frozenset[RunState] = frozenset(
    ("completed", "completed_with_failures", "failed", "cancelled")
)
RecordStatus: TypeAlias = Literal[
    "evaluated", "invalid_record", "timeout", "evaluation_error", "cancelled", "skipped"
]
CACHED = "cached"
"""The response source of an answer that another record was given."""
VALIDATION = "validation_"
"""How the groups of runs begin that only find out how far a judge is right."""
CANARIES = "canaries"
"""The dataset and the provider of answers that a judge must fail."""
INTERRUPTED = "interrupted"
"""The error code of a call that was cut off because its process was stopped or killed."""
MAY_HAVE_BEEN_SENT = "; the request may have been sent"
"""How the message ends of what was cut off while it was asked."""
INTERRUPTED_MESSAGE = f"the process stopped{MAY_HAVE_BEEN_SENT}"
OUTAGE = "outage"
"""The error code of a call to a target that was away, which is made again when it is back."""
ADAPTED = "adapted"
"""The error code of a call that is made again: its target knows better by now how to ask."""
UNCOUNTED = frozenset((INTERRUPTED, OUTAGE, ADAPTED))
"""Calls that use no attempt of their record."""
_SEPARATOR = "\x1f"
"""What sets the places of such calls apart."""
TRANSIENT = frozenset(("timeout", "rate_limited", "service_unavailable", "internal_error"))


def place_mark(error_code: str) -> str:
    """What stands in the places of calls that use no attempt, for this reason."""
    return f"{_SEPARATOR}{error_code} "


def call_of(place: str) -> str:
    """The call that a place belongs to."""
    return place.partition(_SEPARATOR)[0]


class Judging(FrozenStruct, frozen=True, kw_only=True):
    """What it took to judge a record, apart from what its target took."""

    calls: int = 0
    """Calls to judges that were answered, or failed for good."""
    unanswered: int = 0
    """Those of them that failed."""
    attempts: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cached: int = 0
    """Replies that were given before, and are no calls."""
    saved_usd: float | None = None


Private: TypeAlias = tuple[tuple[str, str], ...]
"""What fields of a record hold that are never written, each with its path."""
AskedContent: TypeAlias = str | tuple[str | JsonObject, ...]
"""A text; or texts and, between them, what is none, such as an image by its hash."""


class Asking(NamedTuple):
    """What a target is asked about a record, and what a good answer to it would be.

    A tuple, which takes half the time to make: every record has one.
    """

    messages: tuple[tuple[str, AskedContent], ...]
    """Roles and contents."""
    sha256: str
    """The hash of the messages, before anything in them is redacted."""
    expected: JsonObject | None = None
    documents: tuple[str, ...] = ()
    """Long texts within the messages that those of other records may show as well."""


class PlannedRecord(FrozenStruct, frozen=True, kw_only=True):
    """What is known of one record in one repeat before its target is asked."""

    index: int
    record_id: str | None
    record_sha256: str | None = None
    target: str | None = None
    repeat: int = 0
    first_attempt_at: str | None = None
    """When it was first tried, where it was before."""
    response_source: str | None = None
    copied_attempts: int = 0
    """The attempts that another run has made."""
    slices: tuple[tuple[str, str | None], ...] = ()
    cluster: str | None = None
    asking: Asking | None = None
    private: Private = ()

    @property
    def claimed_id(self) -> str | None:
        """Its id as it may be written before there is a row of the record."""
        name = self.record_id
        for path, value in self.private if name else ():
            name = str(name).replace(value, f"[redacted:{path}]")
        return name

    def result(self, status: RecordStatus) -> Result:
        """What became of the record."""
        return Result(status=status, **asdict(self))


class Result(FrozenStruct, frozen=True, kw_only=True):
    """What became of one record in one repeat."""

    index: int
    record_id: str | None
    status: RecordStatus
    record_sha256: str | None = None
    target: str | None = None
    repeat: int = 0
    trace: Trace | None = None
    verdict: Verdict | None = None
    errors: tuple[Finding, ...] = ()
    """Why the record is invalid, where it is."""
    label: str | None = None
    """The kind of failure: an error code of the target, or the finding's code."""
    message: str = ""
    attempts: int = 0
    first_attempt_at: str | None = None
    last_attempt_at: str | None = None
    response_source: str | None = None
    cost_usd: float | None = None
    """What target and judges cost."""
    judging: Judging | None = None
    """The judges' part in it, where any were asked."""
    answer_key: bytes | None = None
    """What the question is known by, where another record may be given the same answer."""
    copied_attempts: int = 0
    """Those of the attempts that another run has made."""
    copied_usd: float | None = None
    """What of the cost another run has paid."""
    saved_usd: float | None = None
    """What the answer would have cost, had it not been given before."""
    slices: tuple[tuple[str, str | None], ...] = ()
    """The groups that the record belongs to, as (slice, value)."""
    cluster: str | None = None
    """What its interval is clustered by, beside the record itself."""
    asking: Asking | None = None
    """What the target is asked; None for a record that cannot be read."""
    private: Private = ()


def no_such_run(name: str, *, has_runs: bool) -> NotFoundError:
    """What to say when a run is not found, and how to find or make one."""
    if has_runs:
        return NotFoundError(f"no run '{name}' in this project; `steelyard runs` lists them")
    return NotFoundError(
        f"no run '{name}' in this project, which has none yet; `steelyard run` makes one"
    )
