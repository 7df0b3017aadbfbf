"""The programs and plug-ins that grade, by the files that they consist of."""

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
    """Remembers the files of every program and plug-in that grades.

    What the product itself brings is told by its revisions.
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
        """Take in what a rubric runs."""
        for check in rubric.all_checks:
            module = type(check).__module__
            if module.partition(".")[0] != _OWN:
                self._take(module, lambda module=module: self._sources(module))
            elif command := _command(check):
                self._take(command.program, command.files)

    def _take(self, known_by: object, files: Callable[[], Mapping[str, str]]) -> None:
        # Cases bring the same program over and over.
        if known_by not in self._seen:
            self._seen.add(known_by)
            self._hashes |= files()


def _command(check: Check | JudgedCheck | StatedCheck) -> Command | None:
    """The program that a check is, or by which it joins its members."""
    return check if isinstance(check, Command) else getattr(check, "command", None)
