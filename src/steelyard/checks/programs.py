"""Programs that a check runs: a port, so that checks themselves touch nothing outside."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, TypeAlias

Refusal: TypeAlias = Literal["not_allowed", "not_found", "timeout"]


class Ran(NamedTuple):
    """A program that came to its end."""

    exit_code: int
    output: str
    """What it wrote to standard output and standard error."""


class NotRun(NamedTuple):
    """A program that did not come to its end, and why."""

    why: Refusal
    reason: str


class Programs(Protocol):
    """Runs a program to its end."""

    def run(self, argv: tuple[str, ...], given: str, timeout_s: float) -> Ran | NotRun:
        """Run it with a text on standard input."""
        ...


class NoPrograms:
    """Runs nothing: for projects that do not allow it, and for mere validation."""

    def run(self, argv: tuple[str, ...], given: str, timeout_s: float) -> Ran | NotRun:  # noqa: ARG002
        """Refuse, and name the setting."""
        reason = f"running {argv[0]} is not allowed; allow.commands in steelyard.yaml permits it"
        return NotRun("not_allowed", reason)
