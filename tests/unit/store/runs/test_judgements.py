"""Answers that wait for judges and what judges said: kept in time, found again, and settled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from fakes.audit import an_entry
from fakes.runs import attempt, evaluated, stored_run
from fakes.stores import open_store
from fakes.targets import trace
from steelyard.engine.pending_rows import read_answered, read_judgement
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import RunError
from steelyard.judging.prompting import FRAME
from steelyard.model.judgement import Judgement
from steelyard.model.run import Judging, PlannedRecord, Result
from steelyard.results.attempts import Attempt
from steelyard.store.pruned import RetentionStore
from steelyard.store.runs.judgements import JudgementStore
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter

pytestmark = pytest.mark.usefixtures("both_stores")

KEY = "sk-0123456789"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A project with two runs."""
    made = RunStore(open_store(tmp_path / "steelyard.db"))
    for name in ("1", "2"):
        made.create(stored_run(name, status="running"))
    yield made
    made.close()


def keeping(
    store: RunStore,
    use: Callable[[BatchLedger], Awaitable[object]],
    run_id: str = "run_1",
    redact: Redactor | None = None,
) -> None:
    async def run() -> None:
        writer = RowWriter(store.engine, store.lease(run_id))
        ledger = BatchLedger(writer, redact or Redactor(), lambda: "now")
        try:
            await use(ledger)
        finally:
            await ledger.close()

    asyncio.run(run())


def judgement(index: int | None = 0, key: str = "verdict-1", **more: object) -> Judgement:
    made = Judgement(
        index=index,
        record_id=None if index is None else f"r{index}",
        repeat=0,
        key=key,
        check="right",
        judge="judge/fair@1.0.0",
        target="judge",
        fingerprint="f1",
        trace=trace("yes"),
        attempts=1,
        prompt=(("user", "Is it right?"),),
    )
    return replace(made, **more)


def judge_attempt(index: int | None, key: str, number: int = 1) -> Attempt:
    return Attempt(
        index=index,
        record_id=None,
        target="judge",
        repeat=0,
        attempt=number,
        at="now",
        call="judge/fair@1.0.0",
        check="right",
        key=key,
    )


def answered(index: int = 0, **more: object) -> Result:
    return replace(evaluated(index), verdict=None, **more)


def judged(index: int = 0) -> Result:
    return replace(evaluated(index), judging=Judging(calls=1))


def test_an_answer_waits_with_its_attempt_until_its_result_is_kept(store: RunStore) -> None:
    read = JudgementStore(store.engine)
    keeping(store, lambda ledger: ledger.keep_answer(answered(), [attempt(0)]))
    waiting = read.answered("run_1")
    planned = PlannedRecord(index=0, record_id="r0", target="t")

    assert read_answered(waiting[0, 0], planned) == answered()
    assert len(list(store.attempt_rows("run_1"))) == 1
    assert list(store.done("run_1")) == []
    keeping(store, lambda ledger: ledger.keep(judged(), ()))
    assert read.answered("run_1") == {}
    assert list(store.done("run_1")) == [(0, 0)]


def test_only_the_answer_that_has_a_result_is_settled(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        for index in range(3):
            await ledger.keep_answer(answered(index), ())
        await ledger.keep(judged(1), ())

    keeping(store, use)
    keeping(store, lambda ledger: ledger.keep_answer(answered(1), ()), "run_2")

    read = JudgementStore(store.engine)
    assert set(read.answered("run_1")) == {(0, 0), (2, 0)}
    assert set(read.answered("run_2")) == {(1, 0)}


def test_what_judges_said_is_found_while_its_record_has_no_result(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        for index in range(2):
            await ledger.keep_answer(answered(index), ())
            await ledger.keep_judgement(judgement(index), [judge_attempt(index, "verdict-1", 1)])
            await ledger.keep(None, [judge_attempt(index, "verdict-2", 1)])
            await ledger.keep(None, [judge_attempt(index, "verdict-2", 2)])
        await ledger.keep_judgement(judgement(None, "probe"), [judge_attempt(None, "probe")])
        await ledger.keep(judged(1), ())

    keeping(store, use)
    read = JudgementStore(store.engine)
    found = read.judged("run_1")

    assert set(found) == {(0, 0), (-1, 0)}
    kept = read_judgement(found[0, 0]["verdict-1"])
    assert kept == replace(judgement(), prompt=())
    assert read_judgement(found[-1, 0]["probe"]).index is None
    assert read.tried("run_1") == {
        (0, 0): {"verdict-1": 1, "verdict-2": 2},
        (-1, 0): {"probe": 1},
    }
    assert store.tried("run_1") == {}


def test_attempts_of_judges_stand_after_those_of_targets(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep_judgement(judgement(), [judge_attempt(0, "verdict-1")])
        await ledger.keep_answer(answered(), [attempt(0)])

    keeping(store, use)
    rows = [json.loads(row) for row in store.attempt_rows("run_1")]

    assert [row["call"] for row in rows] == ["target", "judge/fair@1.0.0"]
    assert (rows[1]["check"], rows[1]["key"]) == ("right", "verdict-1")
    assert "check" not in rows[0]


def test_attempts_of_judges_stand_in_the_order_in_which_they_were_asked(store: RunStore) -> None:
    asked = [("again", "t2", 1), ("early", "t3", 1), ("early", "t1", 2), ("zeal", "t0", 1)]

    async def use(ledger: BatchLedger) -> None:
        tries = [
            structs.replace(judge_attempt(0, key, number), at=at) for key, at, number in asked
        ]
        await ledger.keep_judgement(judgement(), tries)
        await ledger.keep_answer(answered(), [structs.replace(attempt(0), at="t9")])

    keeping(store, use)
    rows = [json.loads(row) for row in store.attempt_rows("run_1")]
    places = [(row.get("key"), row["attempt"]) for row in rows]

    assert places == [(None, 1), ("zeal", 1), ("again", 1), ("early", 1), ("early", 2)]


def test_a_judgement_is_kept_once(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep_judgement(judgement(), ())
        with pytest.raises(RunError, match=r"(?i)unique constraint"):
            await ledger.keep_judgement(judgement(), ())

    keeping(store, use)


def test_money_in_no_result_yet_is_not_forgotten(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        for index in range(2):
            await ledger.keep_answer(answered(index, cost_usd=1.0), ())
            await ledger.keep_judgement(judgement(index, cost_usd=0.25), ())
        await ledger.keep_judgement(judgement(None, "probe", cost_usd=0.125), ())
        await ledger.keep(replace(judged(1), cost_usd=1.25), ())

    keeping(store, use)
    read = JudgementStore(store.engine)

    assert store.spent_usd("run_1") == 1.25
    assert read.spent_usd("run_1") == 1.375
    assert read.spent_usd("run_2") == 0


@pytest.mark.parametrize(("scope", "found"), [("run_1", True), ("run_2", False), (None, True)])
def test_a_reply_is_found_by_its_question(store: RunStore, scope: str | None, found: bool) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep_judgement(judgement(cache_key=b"question"), ())
        await ledger.keep_judgement(judgement(key="verdict-2"), ())

    keeping(store, use)
    read = JudgementStore(store.engine)
    reply = read.reply(b"question", scope)

    assert list(read.keys(scope)) == ([b"question"] if found else [])
    assert (reply is not None) is found
    assert read.reply(b"other", scope) is None


def test_the_judges_of_a_run_are_told_without_probes(store: RunStore) -> None:
    async def use(ledger: BatchLedger) -> None:
        for place, mark in enumerate(("f1", "f2", "f1")):
            await ledger.keep_judgement(judgement(place, fingerprint=mark), ())
        await ledger.keep_judgement(judgement(None, "probe", fingerprint="f9"), ())

    keeping(store, use)

    assert list(JudgementStore(store.engine).used("run_1")) == [
        ("judge/fair@1.0.0", "judge", "f1"),
        ("judge/fair@1.0.0", "judge", "f2"),
    ]


def test_prompts_and_replies_are_shown_as_far_as_they_may_be(
    store: RunStore, tmp_path: Path
) -> None:
    told = judgement(trace=trace(f"It says {KEY}"), prompt=(("user", f"Is {KEY} right?"),))
    keeping(store, lambda ledger: ledger.keep_judgement(told, ()), redact=Redactor([KEY]))
    keeping(store, lambda ledger: ledger.keep_answer(answered(trace=trace(KEY)), ()))
    (shown,) = JudgementStore(store.engine).of_record("run_1", 0)

    assert shown["prompt"] == {"messages": [["user", "Is [redacted] right?"]]}
    assert "It says [redacted]" in json.dumps(shown["trace"])
    assert store.redactions("run_1") == {"secrets": 2}
    assert list(JudgementStore(store.engine).of_record("run_1", 1)) == []


def test_what_every_judge_is_told_is_shown_with_the_nonce_of_the_call(store: RunStore) -> None:
    nonce = "4111111111111111" * 2
    sent = (("system", nonce.join(FRAME)), ("user", f"[[{nonce}]] Is {KEY} right?"))
    told = judgement(prompt=sent, nonce=nonce)
    redact = Redactor([KEY], ("card", "phone"))
    keeping(store, lambda ledger: ledger.keep_judgement(told, ()), redact=redact)
    (shown,) = JudgementStore(store.engine).of_record("run_1", 0)

    asked = f"[[{nonce}]] Is [redacted] right?"
    assert shown["prompt"] == {"messages": [list(sent[0]), ["user", asked]]}


def test_half_a_character_in_a_reply_is_replaced(store: RunStore) -> None:
    told = judgement(trace=trace("yes \ud83d"), prompt=(("user", "\udfff?"),))
    keeping(store, lambda ledger: ledger.keep_judgement(told, ()))
    (shown,) = JudgementStore(store.engine).of_record("run_1", 0)

    assert "yes \ufffd" in json.dumps(shown["trace"], ensure_ascii=False)


def test_what_is_pruned_is_gone_with_its_judgements(store: RunStore, tmp_path: Path) -> None:
    async def use(ledger: BatchLedger) -> None:
        await ledger.keep_answer(answered(), ())
        await ledger.keep_judgement(judgement(cache_key=b"question"), ())

    keeping(store, use)
    shelf = RetentionStore(store.engine, tmp_path)
    counted = shelf.rows("run_1")
    shelf.forget(an_entry(), [], is_last=False)
    read = JudgementStore(store.engine)

    assert counted == 2
    assert shelf.rows("run_1") == 0
    assert (read.answered("run_1"), list(read.keys(None))) == ({}, [])


def test_a_store_that_fails_is_a_run_that_cannot_go_on(store: RunStore) -> None:
    with store.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE judgements")

    with pytest.raises(RunError, match=r"fails: .*(no such table|does not exist)"):
        list(JudgementStore(store.engine).keys(None))
