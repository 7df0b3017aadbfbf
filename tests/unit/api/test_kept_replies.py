"""Answers that are given again while what they are about is unchanged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from servers.service import served
from steelyard.api.application import operations
from steelyard.api.kept_replies import MAX_AGE_S, KeptReplies, KeptReply, NewestCommit
from steelyard.project import open_project

ADDRESS = b"/v1/runs/run_1?"


class Store:
    """Versions of a store and of its runs that a test changes; counts the looks at the store."""

    def __init__(self) -> None:
        self.versions: dict[str | None, int] = {None: 1, "run_1": 1}
        self.looks = 0

    def commits(self) -> object:
        """The version of the store."""
        self.looks += 1
        return self.versions[None]

    def of_run(self, name: str) -> object:
        """The version of a run."""
        return self.versions[name]

    def of_runs(self) -> object:
        """The version of all runs."""
        return self.versions[None]

    def of_access(self) -> object:
        """The version of who may do what."""
        return 1

    def change(self, run_id: str) -> None:
        """Commit a change of a run."""
        for name in (run_id, None):
            self.versions[name] = self.versions.get(name, 0) + 1


class Replies:
    """One kept answer about `run_1`, and a clock that a test moves."""

    def __init__(self, body: bytes = b"{", run: str | None = "run_1") -> None:
        self.store = Store()
        self.now = 100.0
        self._kept: KeptReplies[str] = KeptReplies(lambda: self.now)
        reply = KeptReply(operation="show", run=run, version=1, body=body, made_at=self.now)
        self._kept.keep(ADDRESS, reply)

    def given(self, address: bytes = ADDRESS, times: int = 1) -> list[bool]:
        """Whether the answer is given to requests that arrive together."""

        async def ask() -> list[bool]:
            newest = NewestCommit()
            found = [self._kept.find(address, self.store, newest) for _ in range(times)]
            return [one is not None for one in found]

        return asyncio.run(ask())


def test_an_answer_is_given_again_at_its_own_address() -> None:
    replies = Replies()

    assert replies.given() == [True]
    assert replies.given(b"/v1/runs/run_1?limit=1") == [False]


def test_a_change_of_the_run_shows_at_once_and_one_of_another_changes_nothing() -> None:
    replies = Replies()
    replies.store.change("run_2")
    before = replies.given()
    replies.store.change("run_1")

    assert [before, replies.given()] == [[True], [False]]


def test_a_list_is_made_anew_after_any_change() -> None:
    replies = Replies(run=None)
    before = replies.given()
    replies.store.change("run_2")

    assert [before, replies.given()] == [[True], [False]]


def test_no_answer_is_given_after_a_second() -> None:
    replies = Replies()
    replies.now += MAX_AGE_S

    assert replies.given(times=3) == [False, False, False]


def test_shortly_before_that_one_request_makes_it_anew() -> None:
    replies = Replies()
    replies.now += MAX_AGE_S - 0.1
    shortly_before = replies.given(times=3)
    replies.now += 0.1

    assert [shortly_before, replies.given()] == [[False, True, True], [False]]


def test_requests_that_arrive_together_look_at_the_store_once() -> None:
    replies = Replies()

    assert replies.given(times=3) == [True, True, True]
    assert replies.store.looks == 1
    assert replies.given() == [True]
    assert replies.store.looks == 2


def test_large_answers_are_not_kept() -> None:
    assert Replies(b"x" * 100_000).given() == [False]


def test_a_change_by_another_process_is_seen_at_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with open_project(tmp_path) as opened, served(opened) as client:
        before = [client.get("/v1/runs").json()["data"] for _ in range(2)]
        run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
        after = client.get("/v1/runs").json()["data"]
    project.close()

    assert before == [[], []]
    assert [one["run_id"] for one in after] == [run.run_id]


@pytest.mark.parametrize("operation", [one for one in operations() if one.is_kept])
def test_only_reading_of_runs_is_kept(operation: object) -> None:
    assert getattr(operation, "method", "") == "GET"
    assert getattr(operation, "scope", "") == "runs:read"
