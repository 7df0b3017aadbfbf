"""Every exception Steelyard raises on purpose.

SteelyardError                 the request cannot be served
├── RequestError               something is wrong with the request             exit 2
│   ├── InvalidError           what was asked makes no sense, or no run        exit 2
│   ├── ConfigError            the project file or a setting is wrong          exit 2
│   ├── NotFoundError          a path, name or reference leads nowhere         exit 2
│   │   └── GoneError          what it leads to was pruned                     exit 2
│   ├── ConflictError          it does not fit what is there by now            exit 2
│   │   └── RequestInProgressError  the same request is being served           exit 2
│   ├── UnauthorizedError      nobody known asks                               exit 2
│   ├── ForbiddenError         whoever asks may not do that                    exit 2
│   ├── TooLargeError          it has more bytes than are taken                exit 2
│   ├── TooManyRequestsError   it comes too soon after others                  exit 2
│   └── UnreadableFileError    a file cannot be read as what it should be      exit 2
├── RunError                   a run cannot go on                                  exit 3
│   ├── UnavailableError       the store, or what a run needs, is away             exit 3
│   │   ├── BucketAwayError    the store of a bucket cannot be reached for now     exit 3
│   │   ├── EngineAwayError    the processes that execute runs cannot be reached   exit 3
│   │   ├── SchemaVersionError another version of Steelyard uses the store         exit 3
│   │   ├── TargetStoppedError a target is away, or refuses every call             exit 3
│   │   └── ServerUnreachableError  no connection to a server, or it broke         exit 3
│   └── SourceError            its dataset, or what it needs beside, has changed   exit 3
│       └── UnresumableError   what it has kept is of no use any more              exit 3
├── TargetError                a call to a target failed; the engine makes it a row
│   └── ConnectionLostError    it is made again: a kept connection was closed under it
├── SettingError               a check's setting is wrong; readers make it a finding
├── TemplateError              a template is no Mustache, or names what nothing fills
└── ParseError                 text is not JSON or YAML; readers make it a finding

A problem inside a file is not an exception but a `Finding`; a record that could not be
evaluated is not an exception but a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

_ARGUMENT = re.compile("\ufdd0([a-z_]+)\ufdd1")

_MOST_TEXT = 10_000
"""The most characters of a message, which may repeat what a caller gave."""


def argument(name: str) -> str:
    """The name of an argument, marked within the message of an error, for whoever shows it.

    Python shows `force` as `force`, and the command line as an option.
    """
    return f"\ufdd0{name}\ufdd1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What would serve a request that lacks something."""

    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments that were left out, each with a value that would do."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """New files that they name, with their contents, each one line."""


class SteelyardError(Exception):
    """The request cannot be served; the message says what, where and what would be right."""

    suggestion: Suggestion | None = None

    details: Mapping[str, Any] | None = None
    """What a server has sent beside its message, such as the findings of a dataset."""

    def __str__(self) -> str:
        return self.phrased(lambda name: f"`{name}`")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that the message names, each once."""
        return tuple(dict.fromkeys(_ARGUMENT.findall(super().__str__())))

    def suggesting(self, suggestion: Suggestion) -> Self:
        """The same error with what would serve the request."""
        self.suggestion = suggestion
        return self

    def phrased(self, write: Callable[[str], str]) -> str:
        """The message, with the names of arguments written as a caller knows them."""
        text = _ARGUMENT.sub(lambda found: write(found[1]), super().__str__())
        if len(text) > _MOST_TEXT:
            text = f"{text[: _MOST_TEXT // 2]} … {text[-_MOST_TEXT // 2 :]}"
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


class RequestError(SteelyardError):
    """Something is wrong with the request; the caller can mend it."""


class InvalidError(RequestError):
    """What was asked contradicts itself, or leaves nothing to do."""


class ConfigError(RequestError):
    """The project file or a setting is wrong."""


class NotFoundError(RequestError):
    """A path, a name or a reference leads nowhere."""


class GoneError(NotFoundError):
    """What a name leads to was here once and was pruned."""


class UnauthorizedError(RequestError):
    """A request without credentials, or with wrong ones."""


class ForbiddenError(RequestError):
    """Whoever asks is known and may not do that."""


class TooLargeError(RequestError):
    """What was sent has more bytes than are taken."""


class TooManyRequestsError(RequestError):
    """A request that comes too soon after others of the same caller."""

    def __init__(self, message: str, *, retry_after_s: float, limit: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.limit = limit
        """How many are served in a while, where that is known."""


class ConflictError(RequestError):
    """The request does not fit what is there by now: a file, a version, the owner of a run."""


class RequestInProgressError(ConflictError):
    """The first request with the same key has no answer yet; another try gets that answer."""


class UnreadableFileError(RequestError):
    """A file as a whole cannot be read as what it should be."""


class RunError(SteelyardError):
    """A run cannot go on: its store or its source has failed it."""


class UnavailableError(RunError):
    """The store, or something else that a run needs, cannot be used for now."""


class SealedElsewhereError(RunError):
    """Another process has sealed the run meanwhile; what it has sealed counts."""


class SourceError(RunError):
    """What a run reads is no longer what it began with."""


class UnresumableError(SourceError):
    """What a run has kept does not belong to its source; nobody can go on with it."""


class StoreAwayError(UnavailableError):
    """The server of the store is away, and may be back soon."""


class BucketAwayError(UnavailableError):
    """The store of a bucket is away, and may be back soon; what it holds is as it was."""


class EngineAwayError(UnavailableError):
    """The cluster whose processes execute runs is away, and may be back soon."""


class SchemaVersionError(UnavailableError):
    """The store is of another version of Steelyard: this process must not use it."""


class TargetStoppedError(UnavailableError):
    """A target cannot be asked any further; the rest of its records wait for `resume`."""


class ServerUnreachableError(UnavailableError):
    """A server cannot be connected to, or its connection broke before its answer was there."""

    def __init__(self, message: str, *, is_sent: bool, is_lasting: bool = False) -> None:
        super().__init__(message)
        self.is_sent = is_sent
        """Whether the server may have got the request."""
        self.is_lasting = is_lasting
        """Whether another try would fail the same way, as with a wrong certificate."""


NO_RESPONSE = "no_response"
"""The error code of a call whose answer was never recorded."""


class TargetError(SteelyardError):
    """A call to a target failed; the engine keeps it as an attempt and decides on a retry."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        http_status: int | None = None,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        away: Literal["unavailable", "unreachable"] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.away: Literal["unavailable", "unreachable"] | None = away
        """How the endpoint itself is out of order, as far as one call can tell: no connection to
        it could be made, or it answered that it is not available, which may be a record's fault.
        """
        self.http_status = http_status
        self.retry_after_s = retry_after_s
        self.request_id = request_id


class ConnectionLostError(TargetError):
    """A connection that was kept was closed under a request, before a byte of its answer came.

    Servers close what nobody uses just when it is used again: the call is made once more.
    """


class SettingError(SteelyardError):
    """A setting of a check is wrong; a reader turns this into a finding."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class TemplateError(SteelyardError):
    """A template cannot be rendered; the message names the tag."""


class ParseError(SteelyardError):
    """Text is not what its format demands; a reader turns this into a finding."""

    def __init__(self, message: str, *, line: int | None = None, code: str) -> None:
        super().__init__(message)
        self.line = line
        self.code = code
