"""Programs that a test writes down in place of running them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steelyard.checks.programs import NotRun, ProgramCall, Ran


class ScriptedPrograms:
    """Answers each run with the next of the given results, and remembers what was asked."""

    def __init__(
        self, results: Iterable[Ran | NotRun] = (), files: Mapping[str, str] | None = None
    ) -> None:
        self._results = list(results)
        self._files = files or {}
        self.runs: list[ProgramCall] = []

    def run(self, call: ProgramCall) -> Ran | NotRun:
        """The next result; where none is left, success."""
        self.runs.append(call)
        return self._results.pop(0) if self._results else Ran(0, "")

    def files(self, call: ProgramCall) -> Mapping[str, str]:  # noqa: ARG002 - the same for all
        """The given ones."""
        return self._files
