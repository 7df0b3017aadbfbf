"""A run that two processes move at random: only the diagram of contract 2 is possible."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fakes.runs import stored_run
from fakes.stores import open_store
from steelyard.errors import RunError
from steelyard.model.run import RunState
from steelyard.results.stored_run import StoredRun
from steelyard.store.runs.repository import RunStore
from strategies.effort import examples

STATES: tuple[RunState, ...] = get_args(RunState)
NEXT: dict[str, set[str]] = {
    "queued": {"validating", "failed", "cancelled"},
    "validating": {"running", "failed", "cancelled"},
    "running": {"retrying", "finalizing", "failed", "cancelled"},
    "retrying": {"running", "finalizing", "failed", "cancelled"},
    "finalizing": {"completed", "completed_with_failures", "failed", "cancelled"},
}
PROCESSES = st.sampled_from([0, 1])


class RunMachine(RuleBasedStateMachine):
    """Tries every move at every time from two processes, of which each dies now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "steelyard.db"
        self._stores = [RunStore(open_store(self._path)) for _ in range(2)]
        self._history = ["queued"]
        self._owner: str | None = None
        self._fence = 1
        self._held = [1, 0]
        """The fence that each process believes in; 0 where it holds nothing."""
        self._is_cancelling = False
        self._read: StoredRun | None = None

    @initialize()
    def create(self) -> None:
        self._stores[0].create(stored_run())

    @rule(process=PROCESSES, state=st.sampled_from(STATES), is_end=st.booleans())
    def move(self, process: int, state: RunState, is_end: bool) -> None:
        is_mine = self._held[process] == self._fence
        is_legal = is_mine and state in NEXT.get(self._history[-1], set())
        store = self._stores[process]
        try:
            if is_end:
                store.finish("run_1", state, "later", {})
            else:
                store.move("run_1", state, "later")
        except RunError:
            assert not is_legal
            return
        assert is_legal
        self._history.append(state)
        if is_end:
            self._owner = None
            self._held[process] = 0

    @rule(process=PROCESSES)
    def release(self, process: int) -> None:
        is_mine = self._held[process] == self._fence
        try:
            self._stores[process].release("run_1", "now")
        except RunError:
            assert not is_mine
        else:
            assert is_mine
            self._owner = None
        self._held[process] = 0

    @rule(process=PROCESSES)
    def read(self, process: int) -> None:
        """What is read may be old by the time it is used."""
        self._read = self._stores[process].find("latest")

    @precondition(lambda self: self._read is not None)
    @rule(process=PROCESSES, owner=st.sampled_from(["a", "b"]))
    def claim(self, process: int, owner: str) -> None:
        read = self._read
        assert read
        is_current = (read.fence, read.status) == (self._fence, self._history[-1])

        assert self._stores[process].claim(read, owner, "now") is is_current
        if is_current:
            self._fence += 1
            self._held[process] = self._fence
            self._owner = owner

    @rule(process=PROCESSES)
    def request_cancel(self, process: int) -> None:
        self._stores[process].request_cancel("run_1")
        self._is_cancelling = True

    @rule(process=PROCESSES)
    def die(self, process: int) -> None:
        self._stores[process].close()
        self._stores[process] = RunStore(open_store(self._path))
        self._held[process] = 0

    @invariant()
    def every_process_sees_the_same(self) -> None:
        for store in self._stores:
            run = store.find("run_1")

            assert [state for state, _ in store.state_times("run_1")] == self._history
            assert (run.status, run.owner) == (self._history[-1], self._owner)
            assert (run.fence, run.is_cancelling) == (self._fence, self._is_cancelling)

    def teardown(self) -> None:
        for store in self._stores:
            store.close()
        self._folder.cleanup()


@pytest.mark.no_cover
@pytest.mark.usefixtures("both_stores")
def test_only_the_diagram_of_contract_2_is_possible() -> None:
    steps = settings(max_examples=examples(30), stateful_step_count=25)
    run_state_machine_as_test(RunMachine, settings=steps)
