"""A run in the database, moved at random: only contract 2's diagram is possible."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import get_args

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fakes.runs import stored_run
from steelyard.errors import RunError
from steelyard.model.run import RunState
from steelyard.store.database import open_database
from steelyard.store.runs import RunStore

STATES: tuple[RunState, ...] = get_args(RunState)
NEXT: dict[str, set[str]] = {
    "queued": {"validating", "failed", "cancelled"},
    "validating": {"running", "failed", "cancelled"},
    "running": {"retrying", "finalizing", "failed", "cancelled"},
    "retrying": {"running", "finalizing", "failed", "cancelled"},
    "finalizing": {"completed", "completed_with_failures", "failed", "cancelled"},
}


class RunMachine(RuleBasedStateMachine):
    """Tries every move at every time, and reopens the store now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "steelyard.db"
        self._store = RunStore(open_database(self._path))
        self._history = ["queued"]
        self._owner: str | None = None

    @initialize()
    def create(self) -> None:
        self._store.create(stored_run())

    @rule(state=st.sampled_from(STATES), is_end=st.booleans())
    def move(self, state: RunState, is_end: bool) -> None:
        is_legal = state in NEXT.get(self._history[-1], set())
        try:
            if is_end:
                self._store.finish("run_1", state, "later", {})
            else:
                self._store.move("run_1", state, "later")
        except RunError:
            assert not is_legal
            return
        assert is_legal
        self._history.append(state)
        self._owner = None if is_end else self._owner

    @rule(owner=st.sampled_from(["a", "b"]))
    def claim(self, owner: str) -> None:
        assert self._store.claim(self._store.find("latest"), owner)
        self._owner = owner

    @rule()
    def reopen(self) -> None:
        self._store.close()
        self._store = RunStore(open_database(self._path))

    @invariant()
    def the_store_tells_the_history(self) -> None:
        run = self._store.find("run_1")

        assert [state for state, _ in self._store.state_times("run_1")] == self._history
        assert (run.status, run.owner) == (self._history[-1], self._owner)

    def teardown(self) -> None:
        self._store.close()
        self._folder.cleanup()


RunMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
TestRunStates = RunMachine.TestCase
