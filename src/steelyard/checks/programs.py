"""Programs that a check runs: a port, so that checks themselves touch nothing outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol, TypeAlias

Refusal: TypeAlias = Literal["not_allowed", "not_found", "timeout", "too_much"]


class ProgramCall(NamedTuple):
    """A program with what it is given."""

    argv: tuple[str, ...]
    given: str
    """The text on its standard input."""
    timeout_s: float
    folder: str | None = None
    """Where it runs: relative to the file that it is near, or else to one of that file's parents.
    """
    near: str | None = None
    """The file that names it; without one, the project's root counts."""


class Ran(NamedTuple):
    """A program that came to its end."""

    exit_code: int
    output: str
    complaint: str = ""
    """The end of what it wrote to standard error."""


class NotRun(NamedTuple):
    """A program that did not come to its end, and why."""

    why: Refusal
    reason: str


class Programs(Protocol):
    """Runs programs to their end."""

    def run(self, call: ProgramCall) -> Ran | NotRun:
        """Run one, within limits of time, memory and output."""
        ...

    def files(self, call: ProgramCall) -> Mapping[str, str]:
        """The sha256 of each file of the project that the program consists of, by its path."""
        ...


class NoPrograms:
    """Runs nothing: for projects that do not allow it, and for mere validation."""

    def run(self, call: ProgramCall) -> Ran | NotRun:
        """Refuse, and name the setting."""
        name = call.argv[0]
        reason = f"running {name} is not allowed; allow.commands in steelyard.yaml permits it"
        return NotRun("not_allowed", reason)

    def files(self, call: ProgramCall) -> Mapping[str, str]:  # noqa: ARG002 - nothing is run
        """None."""
        return {}
