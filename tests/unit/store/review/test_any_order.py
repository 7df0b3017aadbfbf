"""Whatever people do in whatever order: no answer is lost, and no item is reviewed too often."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from fakes.audit import an_entry
from fakes.review_queues import AT, QUEUE, StoredQueue, a_label, answers
from steelyard.errors import ConflictError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.store.review_tables import slots
from strategies.effort import examples

PEOPLE = st.sampled_from(("ann", "bob", "cem"))
VALUES = st.sampled_from((0, 1))
ITEMS, REVIEWS = 3, 2


class Held(NamedTuple):
    """A token as the browser of a person knows it."""

    person: str
    item: str
    number: int
    token: str


class Crowd(RuleBasedStateMachine):
    """People with browsers that remember tokens, valid or not."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.queue = StoredQueue(self.folder / "steelyard.db", items=ITEMS, reviews=REVIEWS)
        self.tabs: list[Held] = []
        self.valid: dict[tuple[str, str], str] = {}
        """The token with which a person may write to an item, and whether it has expired."""
        self.expired: set[tuple[str, str]] = set()
        self.drafts: dict[tuple[str, str], tuple[int, JsonObject]] = {}
        self.submitted: dict[tuple[str, str], JsonObject] = {}
        self.skipped: set[tuple[str, str]] = set()

    def teardown(self) -> None:
        """Let go of the store."""
        self.queue.close()
        shutil.rmtree(self.folder)

    @rule(person=PEOPLE)
    def claim(self, person: str) -> None:
        """Ask for the next item."""
        found = self.queue.work.claim(QUEUE, person, AT)
        if found is None:
            assert not any(self.is_open_to(person, item) for item in self.queue.items)
            return
        item = found.item.item_id
        assert (person, item) not in self.skipped
        assert (person, item) not in self.submitted
        revision, said = self.drafts.setdefault((person, item), (0, {"trace": {}, "turns": {}}))
        assert (found.draft.revision, found.draft.answers) == (revision, said)
        for other in [key for key in self.expired if key[1] == item]:
            if other[0] != person and self.is_replaced(other):
                self.drop(other)
        self.take(Held(person, item, found.item.index, found.token))

    @rule(data=st.data(), value=VALUES)
    def save(self, data: st.DataObject, value: int) -> None:
        """Write with some token that a browser has."""
        if not self.tabs:
            return
        tab = data.draw(st.sampled_from(self.tabs))
        key = (tab.person, tab.item)
        revision, _ = self.drafts[key]
        try:
            now = self.queue.work.save(tab.item, tab.token, revision, answers(value), AT)
        except ConflictError:
            assert self.valid.get(key) != tab.token
            return
        assert self.valid.get(key) == tab.token
        self.expired.discard(key)
        self.drafts[key] = (now, answers(value))

    @rule(data=st.data(), value=VALUES)
    def submit(self, data: st.DataObject, value: int) -> None:
        """Submit with some token that a browser has."""
        if not self.tabs:
            return
        tab = data.draw(st.sampled_from(self.tabs))
        key = (tab.person, tab.item)
        revision, _ = self.drafts[key]
        label = a_label(tab.person, tab.number, value)
        try:
            now = self.queue.work.submit(tab.item, tab.token, revision, label, an_entry(AT))
        except ConflictError:
            assert self.valid.get(key) != tab.token
            return
        assert self.valid.pop(key) == tab.token
        self.expired.discard(key)
        self.drafts[key] = (now, answers(value))
        self.submitted[key] = answers(value)

    @rule(data=st.data(), is_for_good=st.booleans())
    def let_go(self, data: st.DataObject, is_for_good: bool) -> None:
        """Skip or defer."""
        if not self.tabs:
            return
        tab = data.draw(st.sampled_from(self.tabs))
        key = (tab.person, tab.item)
        try:
            if is_for_good:
                self.queue.work.skip(tab.item, tab.token, "no", an_entry(AT))
            else:
                self.queue.work.defer(tab.item, tab.token, AT)
        except ConflictError:
            assert self.valid.get(key) != tab.token
            return
        assert self.valid.get(key) == tab.token
        self.drop(key)
        if is_for_good:
            self.skipped.add(key)

    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        """Take back a submission or a skip."""
        done = sorted({*self.submitted, *self.skipped})
        if not done:
            return
        person, item = key = data.draw(st.sampled_from(done))
        try:
            found = self.queue.work.undo(item, person, an_entry(AT))
        except ConflictError:
            assert key in self.skipped
            assert not self.has_room(item)
            return
        self.skipped.discard(key)
        self.submitted.pop(key, None)
        for other in [one for one in self.expired if one[1] == item]:
            if other[0] != person and self.is_replaced(other):
                self.drop(other)
        self.take(Held(person, item, found.item.index, found.token))

    @rule()
    def expire(self) -> None:
        """Everybody is away for longer than a lease."""
        self.queue.expire()
        self.expired |= set(self.valid)

    @invariant()
    def labels_are_what_was_submitted(self) -> None:
        """Every submission counts once, and nothing else does."""
        found = {
            (str(one.row["annotator"]), str(one.row["record_id"])): one.row["answers"]
            for one in self.queue.annotations.all(Wanted())
        }
        expected = {
            (person, f"r{self.queue.items.index(item)}"): said
            for (person, item), said in self.submitted.items()
        }
        assert found == expected

    @invariant()
    def no_item_has_too_many_people(self) -> None:
        """Submissions and claims that are alive never exceed what is required."""
        alive = [key for key in self.valid if key not in self.expired]
        per_item = Counter(item for _, item in [*alive, *self.submitted])
        assert max(per_item.values(), default=0) <= REVIEWS

    def take(self, tab: Held) -> None:
        """Remember a claim."""
        key = (tab.person, tab.item)
        self.tabs.append(tab)
        self.valid[key] = tab.token
        self.expired.discard(key)

    def drop(self, key: tuple[str, str]) -> None:
        """Forget a claim that somebody else has taken over, or that was given up."""
        self.valid.pop(key, None)
        self.expired.discard(key)

    def is_replaced(self, key: tuple[str, str]) -> bool:
        """Whether an expired claim was taken over, as far as the store says."""
        with self.queue.engine.connect() as connection:
            slot = slots.c
            mine = (slot.item_id == key[1]) & (slot.token == self.valid[key])
            found = connection.execute(select(slot.annotator).where(mine)).scalar()
        return found is None

    def has_room(self, item: str) -> bool:
        """Whether another person may claim an item."""
        alive = [key for key in self.valid if key[1] == item and key not in self.expired]
        return len(alive) + sum(key[1] == item for key in self.submitted) < REVIEWS

    def is_open_to(self, person: str, item: str) -> bool:
        """Whether a person should be offered an item."""
        key = (person, item)
        if key in self.skipped or key in self.submitted:
            return False
        return key in self.valid or self.has_room(item)


@pytest.mark.no_cover
@pytest.mark.usefixtures("both_stores")
def test_a_queue_holds_whatever_people_do() -> None:
    steps = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Crowd, settings=steps)
