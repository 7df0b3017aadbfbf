"""A versioned set of checks with a scoring rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import ClassVar, Literal, Protocol, TypeAlias

import msgspec

from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

Combine: TypeAlias = Literal["all_pass", "any_pass", "weighted_avg", "min", "max", "median"]
PASS_THRESHOLD = 0.7
FIRST_REVISION = 1
"""The revision of a kind of check that states none."""
_PARTS = ("members", "jurors", "judge", "command")
"""What a check may have that asks, runs or holds something else than its class says."""
_FACTS = ("kind", "revision", "built_on", "runs_commands", "needs_commands", "needs_cost")


class Check(Protocol):
    """One way of looking at a trace; a frozen dataclass whose fields are its settings."""

    kind: ClassVar[str]

    def check(self, trace: Trace, case: Case) -> Outcome:
        """What the check finds."""
        ...


class JudgedCheck(Protocol):
    """A check that asks judges; a frozen dataclass as well."""

    kind: ClassVar[str]

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """What the judges found; one that failed leaves the check unscored."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCheck:
    """A check that needs more than a trace and a case: a judge, another rubric, a program.

    It holds its settings as they are written. Whoever has what a kind needs makes a check of
    them; on its own it cannot be carried out, which is neither a 0 nor a pass.
    """

    kind: str
    settings: Extra = field(default_factory=no_extra, hash=False)

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Nothing here carries it out."""
        return Outcome.unscored(f"nothing here carries out {self.kind}")


class RubricCheck(FrozenStruct, frozen=True, kw_only=True):
    """A check with its place in a rubric."""

    id: str
    check: Check | JudgedCheck | StatedCheck
    weight: float = 1.0
    required: bool = False
    negate: bool = False
    extra: Extra = msgspec.field(default_factory=no_extra)
    """What the file says beside the settings of the kind."""

    def __hash__(self) -> int:
        return hash((self.id, self.check))

    @property
    def runs_commands(self) -> bool:
        """Whether it, or a check within it, may run a program."""
        return any(getattr(check, "runs_commands", False) for check in _within((self,)))


class Rubric(FrozenStruct, frozen=True, kw_only=True):
    """Checks and how their results combine."""

    id: str
    version: str
    checks: tuple[RubricCheck, ...]
    combine: Combine = "weighted_avg"
    pass_threshold: float = PASS_THRESHOLD
    description: str = ""
    sha256: str | None = None
    """The hash of its content, however the file is laid out; None for a rubric made in code."""
    grading_sha256: str | None = None
    """The hash of the part on which scores depend."""
    extra: Extra = msgspec.field(default_factory=no_extra)

    def __hash__(self) -> int:
        return hash((self.id, self.version, self.checks))

    @property
    def name(self) -> str:
        """Its reference; one of questions has its version in its id."""
        return f"rubric/{self.id}@{self.version}" if self.version else f"rubric/{self.id}"

    @property
    def stated(self) -> dict[str, StatedCheck]:
        """The checks that need more than a trace and a case, by id."""
        return {one.id: one.check for one in self.checks if isinstance(one.check, StatedCheck)}

    @property
    def form(self) -> tuple[type, ...] | None:
        """The classes of its checks, where these say all that a rubric needs from outside.

        None where two rubrics of the same classes may still need different judges, programs or
        revisions. Records that bring their own checks have many rubrics of few forms.
        """
        classes = tuple([type(one.check) for one in self.checks])
        return classes if all(map(_is_uniform, classes)) else None

    @property
    def all_checks(self) -> Iterator[Check | JudgedCheck | StatedCheck]:
        """Every check of it, and those within its composites."""
        return _within(self.checks)

    @property
    def revisions(self) -> dict[str, int]:
        """The revision of each kind of check in it, and of what a kind is built on.

        A change that can move a score raises the revision of its kind.
        """
        found: dict[str, int] = {}
        for check in self.all_checks:
            revision = getattr(check, "revision", FIRST_REVISION)
            found[check.kind] = max(revision, found.get(check.kind, FIRST_REVISION))
            found.update(getattr(check, "built_on", {}))
        return found

    @property
    def is_judged(self) -> bool:
        """Whether a check of it asks a judge."""
        return any(hasattr(one.check, "ask") for one in self.checks)

    @property
    def runs_commands(self) -> bool:
        """Whether a check of it may run a program."""
        return any(one.runs_commands for one in self.checks)

    @property
    def needs_commands(self) -> bool:
        """Whether a check of it cannot do without running a program."""
        return any(getattr(check, "needs_commands", False) for check in self.all_checks)

    @property
    def needs_cost(self) -> bool:
        """Whether a check of it looks at what a response cost."""
        return any(getattr(check, "needs_cost", False) for check in self.all_checks)


@cache
def _is_uniform(made: type) -> bool:
    """Whether all checks of a class need the same, whatever their settings.

    Those that run programs do not: each may run one of its own.
    """
    is_open = made.__dictoffset__ or hasattr(made, "__getattr__")
    if is_open or getattr(made, "runs_commands", False):
        return False
    settings = _settings(made)
    computed = {name for name in _FACTS if hasattr(getattr(made, name, None), "__get__")}
    parts = {name for name in _PARTS if hasattr(made, name)}
    return not (parts or computed or settings.intersection((*_PARTS, *_FACTS)))


def _settings(made: type) -> set[str]:
    return {one.name for one in fields(made)} if is_dataclass(made) else set()


def _within(checks: tuple[RubricCheck, ...]) -> Iterator[Check | JudgedCheck | StatedCheck]:
    for one in checks:
        yield one.check
        yield from _within(getattr(one.check, "members", ()))
