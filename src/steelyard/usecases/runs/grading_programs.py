"""The files of programs and plug-ins that grade."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from steelyard.checks.command import Command
from steelyard.model.rubric import Check, JudgedCheck, Rubric, StatedCheck

Sources: TypeAlias = Callable[[str], Mapping[str, str]]
"""The sha256 of each file of an imported module, by its path."""
_OWN = "steelyard"


def no_sources(_module: str) -> Mapping[str, str]:
    """None."""
    return {}


class GradingPrograms:
    """Collects the files of every program and plug-in that grades.

    Built-in checks are identified by their revisions.
    """

    def __init__(self, sources: Sources = no_sources) -> None:
        self._sources = sources
        self._seen: set[object] = set()
        self._hashes: dict[str, str] = {}

    @property
    def hashes(self) -> dict[str, str]:
        """The sha256 of each file, by its path."""
        return dict(sorted(self._hashes.items()))

    def note(self, rubric: Rubric) -> None:
        """Add the programs of a rubric."""
        for check in rubric.all_checks:
            module = type(check).__module__
            if module.partition(".")[0] != _OWN:
                self._take(module, lambda module=module: self._sources(module))
            elif command := _command(check):
                self._take(command.program, command.files)

    def _take(self, known_by: object, files: Callable[[], Mapping[str, str]]) -> None:
        # Many cases use the same program.
        if known_by not in self._seen:
            self._seen.add(known_by)
            self._hashes |= files()


def _command(check: Check | JudgedCheck | StatedCheck) -> Command | None:
    """The program of a check, or of its aggregator."""
    return check if isinstance(check, Command) else getattr(check, "command", None)
