"""The protocols that several packages share: disk, clock and targets, as the core sees them."""

from __future__ import annotations

import getpass
import json
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, Self, TypeAlias

from steelyard.formats.encoding import without_surrogates
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ImageBlock
from steelyard.model.names import require_name
from steelyard.model.trace import Trace

Warn: TypeAlias = Callable[[str], None]
"""Takes one thing that a user should know and that stops nothing."""


def log_warning(message: str) -> None:
    """Write it to the logger `steelyard`."""
    logging.getLogger("steelyard").warning("%s", message)


def warn_both(first: Warn, second: Warn) -> Warn:
    """Pass every warning to both."""

    def warn(message: str) -> None:
        first(message)
        second(message)

    return warn


class AuditLog(Protocol):
    """Where changes are logged that are made outside of the database."""

    def add(self, entry: AuditEntry) -> None:
        """Keep one, right after it was made."""
        ...


def local_caller() -> Caller:
    """The user who is logged in on this machine, in a request of its own."""
    try:
        name = getpass.getuser()
    except (ImportError, KeyError, OSError):
        name = "unknown"
    return Caller(without_surrogates(name), f"req_{secrets.token_hex(8)}")


def valid_caller(caller: Caller | None) -> Caller:
    """The caller that is given, if its names are valid; else the user of this machine."""
    if caller is None:
        return local_caller()
    require_name("actor", caller.actor)
    require_name("request_id", caller.request_id)
    return caller


class FoundFile(NamedTuple):
    """A file that exists and may be read."""

    path: str
    text: str
    is_guideline: bool = False


class FileFault(NamedTuple):
    """Why a reference does not lead to a text."""

    code: str
    message: str
    hint: str | None = None


class Files(Protocol):
    """Finds what a reference in one eval file stands for."""

    def read(self, reference: str) -> FoundFile | FileFault:
        """The text of a file, or why there is none."""
        ...

    def image(self, reference: str) -> bytes | FileFault:
        """The bytes of an image, or why there are none."""
        ...

    def cases(self, reference: str) -> tuple[FoundFile, ...] | FileFault:
        """The files of cases that a path, a pattern or a folder names, or why there are none."""
        ...

    def variable(self, name: str) -> str | FileFault:
        """The value of an environment variable, or why an eval file may not use it."""
        ...


class NoFiles:
    """Refuses every reference: for data that comes without a folder."""

    def read(self, reference: str) -> FoundFile | FileFault:
        """Never a file."""
        return FileFault("missing_file", f"file references are not allowed here: {reference}")

    def image(self, reference: str) -> bytes | FileFault:
        """Never a file."""
        return FileFault("missing_file", f"file references are not allowed here: {reference}")

    def cases(self, reference: str) -> tuple[FoundFile, ...] | FileFault:
        """Never a file."""
        return FileFault("missing_file", f"file references are not allowed here: {reference}")

    def variable(self, name: str) -> str | FileFault:
        """Never a variable."""
        return FileFault("forbidden_variable", f"variables are not allowed here: {name}")


class FilesOfUpload(NoFiles):
    """Refuses every reference of a file that arrived over HTTP, whose texts must be in NFC."""


class FoundPath(NamedTuple):
    """A file to look at; named by the user, or met while walking a folder."""

    path: Path
    is_named: bool


class Workspace(Protocol):
    """Finds and opens files; a file that cannot be opened is an OSError."""

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The files that paths, folders and globs stand for, each once, in order."""
        ...

    def open(self, path: Path) -> BinaryIO:
        """A file's bytes."""
        ...

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file."""
        ...

    def size(self, path: Path) -> int:
        """How many bytes a file has."""
        ...

    def files_of(self, path: Path) -> Files:
        """The files that one eval file may show."""
        ...


class Clock(Protocol):
    """Time, as the engine sees it."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        ...

    def stamp(self) -> str:
        """The wall clock as it is written down: UTC, to the millisecond."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerPorts:
    """What every verb needs that changes something: the time, and who calls it."""

    clock: Clock
    caller: Caller = field(default_factory=local_caller)
    """Who is logged for what is done with these ports."""

    def called_by(self, caller: Caller | None) -> Self:
        """The same for another caller, where one is given."""
        return self if caller is None else replace(self, caller=valid_caller(caller))

    def entry(self, verb: str, subject: str, **detail: JsonValue) -> AuditEntry:
        """A change that is made now."""
        at = self.clock.stamp()
        return AuditEntry(at=at, caller=self.caller, verb=verb, subject=subject, detail=detail)


class ToolUse(NamedTuple):
    """A tool call of the conversation so far, with its result."""

    id: str
    tool: str
    input: JsonValue
    result: str


class Turn(NamedTuple):
    """One message with what is more than text in it."""

    role: str
    parts: tuple[str | ImageBlock, ...]
    tools: tuple[ToolUse, ...] = ()
    """Called by the assistant; their results come before the next turn."""

    @property
    def canonical(self) -> str:
        """Its content as one canonical text for hashing; images by their hash."""
        parts = [
            part if isinstance(part, str) else [part.sha256, part.detail] for part in self.parts
        ]
        return json.dumps([self.role, parts, self.tools], ensure_ascii=True)


class Prompt(NamedTuple):
    """What a target is asked: as chat messages, and as one text."""

    messages: tuple[tuple[str, str], ...]
    text: str
    turns: tuple[Turn, ...] = ()
    """The same with images and tool calls, where there are any; for protocols that have them."""


class Judged(NamedTuple):
    """What a call to a judge says beside its prompt."""

    schema: JsonObject
    """The shape of the reply."""
    is_held: bool
    """Whether the endpoint shall hold the reply to the schema."""
    wants_logprobs: bool
    candidate: str
    """The target whose answer is judged."""
    check: str
    judge: str
    """The judge's reference."""
    item: str | None
    """The key of the question, or the id of the criterion."""
    turn: int | None
    sample: int
    round: int


class Request(NamedTuple):
    """One call to a target."""

    case: Case
    prompt: Prompt
    repeat: int = 0
    attempt: int = 1
    judged: Judged | None = None
    """Of a call to a judge, what belongs to it alone."""
    index: int | None = None  # pyright: ignore[reportIncompatibleMethodOverride]
    """The place of the record in its dataset."""
    record_sha256: str | None = None


class Sought(NamedTuple):
    """A record and repeat of which a recorded response is looked for."""

    case: Case
    repeat: int = 0
    index: int | None = None  # pyright: ignore[reportIncompatibleMethodOverride]
    record_sha256: Callable[[], str | None] = lambda: None
    """Made only where it is needed."""


class Target(Protocol):
    """What produces responses; a call that fails raises TargetError."""

    name: str

    def described(self) -> JsonObject:
        """Its settings for the manifest, without secrets."""
        ...

    async def ask(self, request: Request) -> Trace:
        """The trace of one response."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
