"""Runs in the database: found, listed, claimed and read."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, select

from fakes.plans import plan
from fakes.runs import attempt, evaluated, stored_run, unevaluated
from fakes.stores import open_store
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import NotFoundError, RunError
from steelyard.model.run import Result, RunState
from steelyard.results.attempts import Attempt
from steelyard.store.runs.leases import LEASE_S
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter
from steelyard.store.tables import attempts, results

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """The runs of a new project."""
    made = RunStore(open_store(tmp_path / "steelyard.db"))
    yield made
    made.close()


def keep(store: RunStore, *entries: tuple[Result | None, list[Attempt]]) -> None:
    """Keep results and attempts of `run_1`."""

    if not store.list(1):
        store.create(stored_run())

    async def run() -> None:
        ledger = BatchLedger(
            RowWriter(store.engine, store.lease("run_1")), Redactor(), lambda: "now"
        )
        await asyncio.gather(*(ledger.keep(*entry) for entry in entries))
        await ledger.close()

    asyncio.run(run())


def test_a_run_comes_back_as_it_was_kept(store: RunStore) -> None:
    run = stored_run(owner="host:1:2")
    store.create(run)

    found = store.find(run.run_id)

    assert replace(found, lease_left_s=None) == run
    assert found.lease_left_s == pytest.approx(LEASE_S, abs=5)
    assert store.state_times(run.run_id) == [("queued", run.created_at)]
    assert store.redactions(run.run_id) == {}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("run_AAA1", "run_AAA1"),
        ("run_AAA", None),
        ("run_AAB", "run_AAB1"),
        ("run_", None),
        ("latest", "run_AAB1"),
    ],
)
def test_a_run_is_found_by_its_id_a_unique_prefix_or_as_the_latest(
    store: RunStore, name: str, found: str | None
) -> None:
    for number, run in enumerate(("AAA1", "AAA2", "AAB1")):
        store.create(stored_run(run, created_at=f"2026-01-0{number + 1}"))

    if found:
        assert store.find(name).run_id == found
    else:
        with pytest.raises(NotFoundError, match=f"'{name}' fits several runs; give more of"):
            store.find(name)


@pytest.mark.parametrize("name", ["run_9", "latest", "%", "run%1", "_un_1", ""])
def test_a_run_that_is_not_there_is_not_found(store: RunStore, name: str) -> None:
    if name != "latest":
        store.create(stored_run())
        store.create(stored_run("2"))

    with pytest.raises(NotFoundError, match=f"'{name}'"):
        store.find(name)


def test_the_newest_runs_are_listed_first(store: RunStore) -> None:
    for name, created_at in (("B", "2026-01-02"), ("C", "2026-01-03"), ("A", "2026-01-03")):
        store.create(stored_run(name, created_at=created_at))

    assert [run.run_id for run in store.list(10)] == ["run_C", "run_A", "run_B"]
    assert [run.run_id for run in store.list(2)] == ["run_C", "run_A"]


def test_a_finished_run_has_its_summary_and_no_owner(store: RunStore) -> None:
    store.create(stored_run(status="finalizing", owner="me"))
    store.finish("run_1", "completed", "later", {"pass_rate": {"value": 0.5}})
    run = store.find("run_1")

    assert (run.status, run.owner) == ("completed", None)
    assert run.summary == {"pass_rate": {"value": 0.5}}
    assert store.state_times("run_1")[-1] == ("completed", "later")


def test_a_plan_may_name_a_file_of_odd_bytes(store: RunStore) -> None:
    name = b"caf\xe9.jsonl".decode("utf-8", "surrogateescape")
    store.create(replace(stored_run(), plan=plan(options={"dataset": name})))
    found = store.find("run_1").plan

    assert found
    assert str(found.options.dataset) == name


@pytest.mark.parametrize(
    ("fence", "status", "is_claimed"),
    [(1, "running", True), (2, "running", False), (1, "finalizing", False)],
)
def test_a_run_is_claimed_only_as_it_was_read(
    store: RunStore, fence: int, status: RunState, is_claimed: bool
) -> None:
    store.create(stored_run(owner="dead", status="running"))
    read = replace(stored_run(owner="dead", status=status), fence=fence)

    assert store.claim(read, "me", "now") is is_claimed
    assert store.find("run_1").owner == ("me" if is_claimed else "dead")


def test_of_two_that_claim_a_run_one_gets_it(store: RunStore) -> None:
    store.create(stored_run(status="running"))
    read = store.find("run_1")

    assert [store.claim(read, "first", "now"), store.claim(read, "second", "now")] == [True, False]
    assert store.find("run_1").owner == "first"


def test_a_run_that_is_released_has_no_owner(store: RunStore) -> None:
    store.create(stored_run(owner="me", status="running"))
    store.release("run_1", "now")

    assert store.find("run_1").owner is None


def test_what_has_a_result_is_done(store: RunStore) -> None:
    keep(store, (evaluated(3), []), (evaluated(0, 1), []), (unevaluated(1, "timeout"), []))

    assert set(store.done("run_1")) == {(3, 0), (0, 1), (1, 0)}
    assert list(store.done("run_2")) == []


def test_what_was_tried_without_a_result_counts_its_attempts(store: RunStore) -> None:
    keep(
        store,
        (evaluated(0), [attempt(0)]),
        (None, [attempt(1, 1, at="first"), attempt(1, 2, at="second")]),
        (None, [attempt(0, repeat=1, at="only")]),
    )

    assert store.tried("run_1") == {(1, 0): (2, "first"), (0, 1): (1, "only")}


def test_results_come_in_order_with_their_scores(store: RunStore) -> None:
    keep(
        store,
        (evaluated(2, checks=0), []),
        (evaluated(1, 1, checks=3), []),
        (unevaluated(0, "invalid_record"), []),
        (evaluated(1, 0, checks=12), []),
    )
    rows = [json.loads(kept.prediction) for kept in store.results("run_1")]
    scores = [[score["check"] for score in row["evaluator_scores"]] for row in rows]

    assert [(row["index"], row["repeat"]) for row in rows] == [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert scores == [[], [f"check{n}" for n in range(12)], ["check0", "check1", "check2"], []]


def test_an_answer_that_looks_like_a_list_of_scores_gets_none(store: RunStore) -> None:
    keep(store, (evaluated(0, text='"evaluator_scores":[]'), []))
    row = json.loads(next(store.results("run_1")).prediction)

    assert row["model_response"] == '"evaluator_scores":[]'
    assert len(row["evaluator_scores"]) == 1


def test_attempts_come_in_order(store: RunStore) -> None:
    keep(store, (None, [attempt(1, 2), attempt(10), attempt(1)]), (None, [attempt(1, repeat=1)]))
    rows = [json.loads(row) for row in store.attempt_rows("run_1")]
    places = [(row["index"], row["repeat"], row["attempt"]) for row in rows]

    assert places == [(1, 0, 1), (1, 0, 2), (1, 1, 1), (10, 0, 1)]


@pytest.mark.parametrize(
    ("status", "is_failure"),
    [
        ("invalid_record", True),
        ("timeout", True),
        ("evaluation_error", True),
        ("skipped", False),
        ("cancelled", True),
    ],
)
def test_a_failure_is_what_keeps_a_run_from_being_completed(
    store: RunStore, status: str, is_failure: bool
) -> None:
    keep(store, (unevaluated(0, status), []))  # pyright: ignore[reportArgumentType]

    assert (next(store.results("run_1")).failure is not None) is is_failure


@pytest.mark.sqlite
def test_a_database_that_fails_is_a_run_that_cannot_go_on(store: RunStore) -> None:
    with store.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE runs")

    with pytest.raises(RunError, match="fails: no such table: runs"):
        store.find("latest")
    with pytest.raises(RunError, match="fails: no such table: runs"):
        store.create(stored_run())


@pytest.mark.sqlite
def test_a_full_disk_is_told(store: RunStore) -> None:
    def no_more_pages(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count=1")

    store.close()
    event.listen(store.engine, "connect", no_more_pages)
    run = replace(stored_run(), plan=plan(secret="x" * 100_000))

    with pytest.raises(RunError, match="fails: database or disk is full"):
        store.create(run)


def test_only_queries_are_read_in_batches(store: RunStore) -> None:
    keep(store, (evaluated(0), [attempt(0)]), (evaluated(1), []))
    store.create(stored_run("2"))
    batched: set[str] = set()

    @event.listens_for(store.engine, "before_cursor_execute")
    def look(*given: Any) -> None:
        _, _, statement, _, context, _ = given
        if "yield_per" in context.execution_options:
            batched.add(statement.split()[0])

    store.copy_kept("run_1", "run_2", ("failed",))
    store.withdraw("run_2", ("timeout",))

    assert batched == {"SELECT"}


def test_many_results_are_copied_in_a_few_statements(store: RunStore) -> None:
    """A retry is not running before all that it keeps is copied."""
    count = 250
    keep(store, *((evaluated(place), [attempt(place)]) for place in range(count)))
    store.create(stored_run("2"))
    statements: list[str] = []

    @event.listens_for(store.engine, "before_cursor_execute")
    def look(*given: Any) -> None:
        statements.append(given[2])

    store.copy_kept("run_1", "run_2", ("failed",))

    with store.engine.connect() as connection:
        for table in (results, attempts):
            counts = select(func.count(), func.count(table.c.idx.distinct()))
            first, second = (
                connection.execute(counts.where(table.c.run_id == run)).one()
                for run in ("run_1", "run_2")
            )
            assert first == second
            assert first[1] == count
    assert len(statements) < count / 5
