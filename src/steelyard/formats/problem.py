"""Something wrong with a value, before it is known in which file and record the value stands."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.finding import Severity
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Path


class Problem(FrozenStruct, frozen=True, kw_only=True):
    """A code, a message and the path inside the value."""

    code: str
    message: str
    path: Path = ()
    hint: str | None = None
    severity: Severity = "error"


def path_order(problem: Problem) -> tuple[tuple[bool, int, str], ...]:
    """Sort key: by path, indices as numbers."""
    return tuple(
        (True, part, "") if isinstance(part, int) else (False, 0, part) for part in problem.path
    )


def under(path: Path, problem: Problem) -> Problem:
    """The same problem seen from further out."""
    return replace(problem, path=(*path, *problem.path))
