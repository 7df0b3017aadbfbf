"""Queue runs that are derived from finished ones: retry failed records, regrade stored answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from steelyard.engine.states import is_terminal
from steelyard.errors import ConflictError, RequestError, RunError, UnavailableError, argument
from steelyard.execution.run_options import RunOptions
from steelyard.model.audit import Caller
from steelyard.model.names import require_name
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.derived_runs import regrade_options, retry_options
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.posted_runs import post_run, require_reference


class FinishedRuns:
    """The finished runs of a project, from which new ones are derived for workers to execute."""

    def __init__(self, ports: RunPorts, folder_of: Callable[[str], Path]) -> None:
        self._ports = ports
        self._folder_of = folder_of
        """The folder of a finished run whose files are as they were sealed."""

    async def queue_retry(
        self, name: str, *, run_id: str | None = None, caller: Caller | None = None
    ) -> StoredRun:
        """A new run that repeats the failed records of a finished one; `run_id` is its id."""
        return await self._queued(retry_options(self._folder(name)), run_id, caller)

    async def queue_regrade(
        self, name: str, rubric: str, *, run_id: str | None = None, caller: Caller | None = None
    ) -> StoredRun:
        """A new run that grades the answers of a finished one with another rubric."""
        require_name(argument("rubric"), rubric)
        require_reference("rubric", rubric)
        return await self._queued(regrade_options(self._folder(name), rubric), run_id, caller)

    def _folder(self, name: str) -> Path:
        run = self._ports.repository.find(name)
        if not is_terminal(run.status):
            raise ConflictError(f"{run.run_id} is not finished: {run.status}")
        return self._folder_of(run.run_id)

    async def _queued(
        self, options: RunOptions, run_id: str | None, caller: Caller | None
    ) -> StoredRun:
        new_id = run_id or self._ports.new_run_id()
        try:
            return await post_run(self._ports, options, run_id=new_id, caller=caller)
        except (RequestError, UnavailableError):
            raise
        except RunError as wrong:
            raise ConflictError(*wrong.args) from None
