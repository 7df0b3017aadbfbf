"""The ledger over a database: batches, futures that always settle, and redaction."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import event, func, select

from fakes.runs import attempt, evaluated, stored_run, unevaluated
from fakes.stores import open_store
from fakes.targets import trace
from steelyard.engine.redaction.redactor import MARK, Redactor
from steelyard.errors import RunError
from steelyard.model.run import Result
from steelyard.model.trace import Trace
from steelyard.results.attempts import Attempt
from steelyard.store.runs import ledger as ledger_module
from steelyard.store.runs.ledger import BATCH, ENOUGH, GATHER_S, BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.result_rows import ResultRows
from steelyard.store.runs.row_writer import Rows, RowWriter
from steelyard.store.tables import scores

pytestmark = pytest.mark.usefixtures("both_stores")

KEY = "sk-0123456789"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A project with one run."""
    made = RunStore(open_store(tmp_path / "steelyard.db"))
    made.create(stored_run(status="running"))
    yield made
    made.close()


def during(
    store: RunStore,
    use: Callable[[BatchLedger], Awaitable[None]],
    redact: Redactor | None = None,
) -> None:
    async def run() -> None:
        ledger = BatchLedger(
            RowWriter(store.engine, store.lease("run_1")), redact or Redactor(), lambda: "now"
        )
        try:
            await use(ledger)
        finally:
            await ledger.close()

    asyncio.run(run())


def rows(store: RunStore) -> list[dict[str, object]]:
    return [json.loads(kept.prediction) for kept in store.results("run_1")]


def test_a_result_is_kept_with_its_attempts_and_the_score_of_each_check(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep(evaluated(0, checks=3), [attempt(0), attempt(0, 2)])

    during(store, use)

    with store.engine.connect() as connection:
        kept = connection.execute(select(func.count()).select_from(scores)).scalar()
    assert kept == 3
    assert len(rows(store)) == 1
    assert len(list(store.attempt_rows("run_1"))) == 2


def test_what_has_arrived_meanwhile_is_committed_together(store: RunStore) -> None:
    commits: list[object] = []
    event.listen(store.engine, "commit", commits.append)
    count = 3 * BATCH

    async def use(ledger: BatchLedger) -> None:
        await asyncio.gather(*(ledger.keep(evaluated(index), ()) for index in range(count)))

    during(store, use)

    assert len(rows(store)) == count
    assert 3 <= len(commits) < 50


def test_one_place_filled_twice_is_a_run_error_and_every_future_settles(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        kept = [ledger.keep(evaluated(index % 10), ()) for index in range(20)]
        kept.append(ledger.keep(None, [attempt(5)]))
        settled = await asyncio.gather(*kept, return_exceptions=True)

        errors = [error for error in settled if error is not None]
        assert len(settled) == 21
        assert errors
        assert all(isinstance(error, RunError) for error in errors)
        assert "unique constraint" in str(errors[0]).lower()

    during(store, use)


def test_a_batch_is_kept_as_a_whole_or_not_at_all(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep(evaluated(0), ())
        with pytest.raises(RunError):
            await ledger.keep(evaluated(0), [attempt(0)])
        await ledger.keep(evaluated(1), ())

    during(store, use)

    assert [row["index"] for row in rows(store)] == [0, 1]
    assert list(store.attempt_rows("run_1")) == []


def test_a_store_that_is_gone_is_told_to_everybody(store: RunStore) -> None:
    with store.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE results")

    async def use(ledger: BatchLedger) -> None:
        with pytest.raises(RunError, match=r"refuses results: .*(no such table|does not exist)"):
            await ledger.keep(evaluated(0), ())

    during(store, use)


@pytest.mark.parametrize("extra", [object(), {1, 2, object()}], ids=["object", "set"])
def test_a_result_that_json_cannot_hold_is_told_and_nobody_waits_for_ever(
    store: RunStore, extra: object
) -> None:
    odd = Trace(extra={"odd": extra})  # pyright: ignore[reportArgumentType]

    async def use(ledger: BatchLedger) -> None:
        result = Result(index=0, record_id=None, status="evaluated", trace=odd)
        with pytest.raises(RunError, match="a result cannot be kept: TypeError"):
            await asyncio.wait_for(ledger.keep(result, ()), 120)
        await ledger.keep(evaluated(1), ())

    during(store, use)

    assert [row["index"] for row in rows(store)] == [1]


def test_half_a_surrogate_pair_is_replaced_and_not_the_end_of_the_run(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        result = Result(
            index=0, record_id="id\ud800", status="evaluated", trace=trace("a\udfff, Zürich")
        )
        await ledger.keep(result, [attempt(0)])

    during(store, use)

    row = rows(store)[0]
    assert row["record_id"] == "id\ufffd"
    assert row["model_response"] == "a\ufffd, Zürich"


def test_secrets_are_replaced_in_everything_and_counted_with_the_run(
    store: RunStore, tmp_path: Path
) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep(evaluated(0, text=f"the key is {KEY}"), [attempt(0)])
        failed = unevaluated(1, "evaluation_error")
        await ledger.keep(
            Result(index=1, record_id=KEY, status=failed.status, message=f"{KEY} is wrong"), ()
        )

    during(store, use, Redactor([KEY]))

    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert KEY.encode() not in written
    assert rows(store)[0]["model_response"] == f"the key is {MARK}"
    # response and trace; then id and message in prediction, validation and failure
    assert store.redactions("run_1") == {"secrets": 2 + 2 + 1 + 2}


def test_redactions_add_up_over_the_processes_that_work_on_a_run(store: RunStore) -> None:
    for index in range(2):

        async def use(ledger: BatchLedger, index: int = index) -> None:
            await ledger.keep(evaluated(index, text=KEY), ())

        during(store, use, Redactor([KEY]))

    assert store.redactions("run_1") == {"secrets": 4}


def test_a_loop_that_is_gone_ends_the_thread_in_peace(store: RunStore) -> None:
    """The second Ctrl-C ends the loop while the thread still writes."""

    others = set(threading.enumerate())

    async def run() -> threading.Thread:
        ledger = BatchLedger(
            RowWriter(store.engine, store.lease("run_1")), Redactor(), lambda: "now"
        )
        ledger.keep(evaluated(0), ())
        await asyncio.sleep(2 * GATHER_S)
        begun = set(threading.enumerate()) - others
        return next(t for t in begun if t.name == "steelyard-ledger")

    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET owner = 'whoever holds the lock'")
        thread = asyncio.run(run())
    thread.join(120)

    assert not thread.is_alive()
    assert set(store.done("run_1")) == {(0, 0)}


def test_rows_that_take_long_leave_the_loop_to_others_in_between(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "_BLOCK_S", -1.0)
    made: list[int] = []
    make = ResultRows.of_result

    def slow(self: ResultRows, result: Result, attempts: Sequence[Attempt]) -> Rows:
        made.append(result.index)
        return make(self, result, attempts)

    monkeypatch.setattr(ResultRows, "of_result", slow)

    async def use(ledger: BatchLedger) -> None:
        kept = asyncio.gather(*(ledger.keep(evaluated(index), ()) for index in range(ENOUGH)))
        assert made == [0]
        await asyncio.sleep(0)
        assert made == [0, 1]
        await kept

    during(store, use)

    assert [row["index"] for row in rows(store)] == list(range(ENOUGH))


def test_a_commit_does_not_wait_for_more_when_somebody_waits_for_it(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "GATHER_S", 3600)

    async def use(ledger: BatchLedger) -> None:
        first = ledger.keep(evaluated(0), ())
        ledger.hurry()
        second = ledger.keep(evaluated(1), ())
        ledger.hurry()  # the first commit is under way, and frees whoever waits
        await asyncio.wait_for(first, 120)
        assert not second.done()
        ledger.hurry()
        await asyncio.wait_for(second, 120)

    during(store, use)

    assert [row["index"] for row in rows(store)] == [0, 1]


def test_a_change_of_state_is_kept_at_once_with_what_came_before_it(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "GATHER_S", 3600)

    async def use(ledger: BatchLedger) -> None:
        result = ledger.keep(evaluated(0), ())
        await asyncio.wait_for(ledger.move("retrying"), 120)
        assert result.done()
        with pytest.raises(RunError, match="a run cannot go from retrying to queued"):
            await asyncio.wait_for(ledger.move("queued"), 120)

    during(store, use)

    assert store.find("run_1").status == "retrying"
    assert [state for state, _ in store.state_times("run_1")] == ["running", "retrying"]
    assert store.state_times("run_1")[-1][1] == "now"


def test_whoever_no_longer_waits_for_what_cannot_be_kept_is_left_alone(store: RunStore) -> None:
    odd = Trace(extra={"odd": object()})  # pyright: ignore[reportArgumentType]

    async def use(ledger: BatchLedger) -> None:
        gone = ledger.keep(Result(index=0, record_id=None, status="evaluated", trace=odd), ())
        gone.cancel()
        await ledger.keep(evaluated(1), ())

    during(store, use)

    assert [row["index"] for row in rows(store)] == [1]


def test_a_writer_with_a_bug_is_told_to_everybody() -> None:
    class Broken:
        run_id = "run_1"

        def write(self, rows: Rows) -> None:
            raise ZeroDivisionError(len(rows.results))

        def close(self) -> None: ...

    async def run() -> None:
        ledger = BatchLedger(Broken(), Redactor(), lambda: "now")
        with pytest.raises(RunError, match="a result cannot be kept: ZeroDivisionError: 1"):
            await ledger.keep(evaluated(0), ())
        await ledger.close()

    asyncio.run(run())


def test_what_is_left_at_the_end_is_kept_at_once(store: RunStore) -> None:
    kept: list[asyncio.Future[None]] = []

    async def use(ledger: BatchLedger) -> None:
        kept.extend(ledger.keep(evaluated(index), ()) for index in range(3))

    during(store, use)

    assert all(one.done() for one in kept)
    assert len(rows(store)) == 3
