"""Ways to stop a run at a named point, as a power cut would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from fakes.targets import ScriptedTarget
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.store.artifacts import ArtifactFileDraft, ArtifactFolder
from steelyard.store.runs.repository import RunStore
from steelyard.usecases.runs.ports import RunPorts


class Stopped(BaseException):
    """What nobody catches."""


class StoppingTarget(ScriptedTarget):
    """Stops the run after some answers."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    async def ask(self, request: Request) -> Trace:
        """An answer, or the stop."""
        if self._left == 0:
            raise Stopped
        self._left -= 1
        return await super().ask(request)


class StoppingStore(RunStore):
    """Stops before a state is kept, and lets nothing be told afterwards."""

    def __init__(self, store: RunStore, state: str) -> None:
        super().__init__(store.engine)
        self.leases = store.leases
        self._state = state

    def move(self, run_id: str, state: RunState, at: str, caller: Caller | None = None) -> None:
        """Go to another state, unless it is the one to stop at."""
        if state == self._state:
            raise Stopped
        super().move(run_id, state, at, caller)

    def finish(self, run_id: str, state: RunState, at: str, summary: JsonObject) -> None:
        """Never end, when the end is what to stop at."""
        if self._state == "completed":
            raise Stopped
        super().finish(run_id, state, at, summary)

    def release(self, run_id: str, at: str, why: str = "") -> None:
        """A process that is gone releases nothing."""


class StoppingFolder(ArtifactFolder):
    """Stops before or in the middle of one artifact."""

    def __init__(self, folder: ArtifactFolder, name: str, *, is_begun: bool) -> None:
        super().__init__(folder.folder)
        self._name = name
        self._is_begun = is_begun

    def draft(self, name: str) -> ArtifactFileDraft:
        """Begin an artifact, unless it is the one to stop at."""
        if name != self._name:
            return super().draft(name)
        if self._is_begun:
            draft = super().draft(name)
            draft.write(b"half a r")
            draft.close()
        raise Stopped


def stopping_at_state(ports: RunPorts, state: str) -> RunPorts:
    """A process that dies before a state is kept."""
    return replace(ports, repository=StoppingStore(cast(RunStore, ports.repository), state))


def stopping_at_artifact(ports: RunPorts, name: str, *, is_begun: bool) -> RunPorts:
    """A process that dies while it writes an artifact."""
    folders = cast(Callable[[str], ArtifactFolder], ports.artifacts)

    def stopping(run_id: str) -> StoppingFolder:
        return StoppingFolder(folders(run_id), name, is_begun=is_begun)

    return replace(ports, artifacts=stopping)
