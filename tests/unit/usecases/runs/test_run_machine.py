"""A run that is stopped, resumed and cancelled at random comes to an end the checker accepts."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from checker import Place, Trial, check_run, stored_predictions
from fakes.projects import Project, row
from fakes.stops import Stopped, StoppingTarget, stopping_at_artifact, stopping_at_state
from fakes.targets import ScriptedTarget, fails
from steelyard.engine.states import is_terminal
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.ports import RunPorts
from strategies.effort import examples

ROWS = [row(f"r{number}") for number in range(6)] + [{"id": "invalid"}]
STATES = ("validating", "running", "finalizing", "completed")
MOODY = {"r1": [fails("timeout"), "yes"], "r4": [fails("bad_request")]}
POINTS = [
    *(partial(stopping_at_state, state=state) for state in STATES),
    *(partial(stopping_at_artifact, name=name, is_begun=False) for name in ARTIFACTS),
    *(partial(stopping_at_artifact, name=name, is_begun=True) for name in ARTIFACTS),
]


def dead(_: str) -> bool:
    return False


class RunMachine(RuleBasedStateMachine):
    """One run, and the processes that work on it one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._project = Project(Path(self._folder.name))
        self._project.cases(ROWS)
        self._acknowledged: dict[Place, bytes] = {}
        self._store = self._project.ports().repository
        self._run: StoredRun | None = None
        self._processes = 0

    def _is_open(self) -> bool:
        return self._run is None or not is_terminal(self._run.status)

    def _work(self, ports: RunPorts) -> None:
        """Start the run, or go on with it, as a process of its own."""
        self._processes += 1
        ports = replace(ports, owner=f"here:{self._processes}:1", is_alive=dead)
        try:
            if self._run is None:
                self._project.run(ports, Path("d.jsonl"), max_concurrency=2)
            else:
                self._project.resume(ports)
        except Stopped:
            pass
        self._note()

    def _note(self) -> None:
        """What everybody can know now, and must know ever after."""
        self._run = next(iter(self._store.list(1)), None)
        if self._run:
            self._acknowledged |= stored_predictions(self._artifacts(self._run))

    def _artifacts(self, run: StoredRun) -> Path:
        return self._project.root / ".steelyard" / "runs" / run.run_id

    @precondition(_is_open)
    @rule(after=st.integers(0, 7))
    def die_after_some_answers(self, after: int) -> None:
        self._work(self._project.ports(StoppingTarget(after=after)))

    @precondition(_is_open)
    @rule(point=st.integers(0, len(POINTS) - 1))
    def die_at_a_point(self, point: int) -> None:
        self._work(POINTS[point](self._project.ports(ScriptedTarget(MOODY))))

    @precondition(lambda self: self._run is not None)
    @rule()
    def cancel(self) -> None:
        ports = self._project.ports(ScriptedTarget(), is_alive=dead)
        asyncio.run(cancel_run(ports, ports.repository.find("latest")))
        self._note()

    def teardown(self) -> None:
        if self._is_open():
            self._work(self._project.ports(ScriptedTarget(MOODY)))
        assert self._run
        check_run(self._artifacts(self._run), Trial(acknowledged=self._acknowledged))
        self._project.close()
        self._folder.cleanup()


RunMachine.TestCase.settings = settings(max_examples=examples(8), stateful_step_count=5)
TestRunMachine = RunMachine.TestCase
