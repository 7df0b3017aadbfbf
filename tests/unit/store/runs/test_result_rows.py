"""Rows keep every number of ours, and none that somebody else's card has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.exemption import Exemption
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message, ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.run import Asking, Judging, Result
from steelyard.model.trace import Trace, Usage
from steelyard.model.verdict import CheckResult, Verdict
from steelyard.results import exemptions
from steelyard.results.attempts import Attempt
from steelyard.results.facts import read_facts
from steelyard.settings import REDACTED_KINDS as KINDS
from steelyard.settings import RedactionRules
from steelyard.store.runs import result_rows
from steelyard.store.runs.result_rows import RequestPartRows, ResultRows
from steelyard.store.runs.row_writer import Rows

FOREIGN = 4012888888881881
CARDS = st.sampled_from(
    [4111111111111111, 5555555555554444, 378282246310005, 30569309025904, 6304000000000000]
)
DIGITS = "4111111111111111"


def result(number: int) -> Result:
    call = ToolCall(tool="pay", input={"card": FOREIGN}, output=FOREIGN)
    said = Message(role="assistant", content=f"paid by {FOREIGN}", tool_calls=(call,))
    usage = Usage(input_tokens=number, output_tokens=number)
    outcome = Outcome(
        passed=True, score=1.0, raw_score=number, reason="paid", details={"card": FOREIGN}
    )
    check = CheckResult(check="a", kind="command", outcome=outcome, weight=number)
    return Result(
        index=number,
        record_id=str(FOREIGN),
        status="evaluated",
        record_sha256=DIGITS,
        repeat=number,
        trace=Trace(messages=(said,), usage=usage, latency_ms=number),
        verdict=Verdict(status="evaluated", results=(check,), score=1.0, raw_score=number),
        attempts=number,
        cost_usd=number,
        judging=Judging(calls=number, input_tokens=number, cost_usd=number),
        asking=Asking(
            messages=(("user", f"pay by {FOREIGN}"),), sha256=DIGITS, expected={"card": FOREIGN}
        ),
    )


def tried(number: int) -> Attempt:
    return Attempt(
        index=number,
        record_id=str(FOREIGN),
        target="a",
        repeat=number,
        attempt=number,
        at=f"{number}",
        latency_ms=number,
        http_status=number,
        retry_in_s=number,
        input_tokens=number,
        output_tokens=number,
        message=f"{FOREIGN} is taken",
    )


def numbers(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from numbers(item)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


def kept_texts(rows: Rows) -> tuple[bytes, ...]:
    """Prediction, validation, failure and facts of the only result."""
    return rows.results[0][4:8]


@given(number=CARDS)
def test_no_row_loses_a_number_of_ours_or_keeps_that_of_a_foreign_card(number: int) -> None:
    redact = Redactor((), KINDS)
    rows = ResultRows("run_1", redact).of_result(result(number), [tried(number)])
    prediction, validation, _, facts = kept_texts(rows)
    score, attempt = rows.scores[0][5], rows.attempts[0][-1]
    told = json.loads(prediction)
    usage = {"input_tokens": number, "output_tokens": number}

    assert read_facts(facts).attempts == number
    assert (told["index"], told["repeat"], told["total_tokens"]) == (number, number, 2 * number)
    assert (told["trace"]["usage"], told["trace"]["latency_ms"]) == (usage, number)
    assert (told["judging"]["calls"], told["cost_usd"]) == (number, number)
    assert (told["record_sha256"], told["request"]["sha256"]) == (DIGITS, DIGITS)
    assert json.loads(validation)["record_sha256"] == DIGITS
    assert (json.loads(score)["weight"], json.loads(score)["raw_score"]) == (number, number)
    assert list(numbers(json.loads(attempt))) == [number] * 8
    assert json.loads(attempt)["at"] == str(number)
    for text in (prediction, validation, facts, score, attempt):
        assert str(FOREIGN).encode() not in text
    assert told["expected"] == {"card": "[redacted:card]"}
    assert told["trace"]["messages"][0]["tool_calls"][0]["output"] == "[redacted:card]"


def test_no_rule_of_a_project_takes_what_is_ours() -> None:
    rules = RedactionRules(
        patterns=(), custom=(("digits", "[0-9]{4}"), ("start", "^eval")), fields=("index", "card")
    )
    redact = Redactor.by(rules, ["evaluated"])
    rows = ResultRows("run_1", redact).of_result(result(7), [tried(7)])
    prediction, _, failure, facts = kept_texts(rows)
    told = json.loads(prediction)

    assert (told["index"], told["status"], told["record_sha256"]) == (7, "evaluated", DIGITS)
    assert read_facts(facts).status == "evaluated"
    assert told["expected"] == {"card": "[redacted:card]"}
    assert told["record_id"] == "[redacted:digits]" * 4
    assert failure is None


def test_what_a_record_hides_takes_no_word_of_ours() -> None:
    done = Result(
        index=0,
        record_id="evaluated",
        status="evaluated",
        label="evaluated",
        private=(("metadata.state", "evaluated"),),
    )
    rows = ResultRows("run_1", Redactor()).of_result(done, [])
    prediction, *_ = kept_texts(rows)

    assert json.loads(prediction)["status"] == "evaluated"
    assert json.loads(prediction)["record_id"] == "[redacted:metadata.state]"


ODD = ["", "\ud83d", '"\\u0040', "\n\0", f"pay by {FOREIGN} ", "[redacted]"]


@pytest.mark.parametrize("said", ODD)
def test_a_long_answer_is_seen_once_and_written_twice(said: str) -> None:
    text = said + "x " * 512
    trace = Trace(messages=(Message(role="assistant", content=text),))
    long = Result(index=0, record_id="a", status="evaluated", trace=trace)
    made = ResultRows("run_1", Redactor((), KINDS)).of_result(long, [])
    row = json.loads(kept_texts(made)[0])
    written = text.replace(str(FOREIGN), "[redacted:card]").replace("\ud83d", "\ufffd")

    assert row["model_response"] == row["trace"]["messages"][0]["content"] == written
    assert made.redactions == (
        {"card": 2} if str(FOREIGN) in said else {"secrets": 2} if "[redacted]" in said else {}
    )


def test_beside_a_long_answer_nothing_stays_that_nobody_may_see() -> None:
    said = Message(role="assistant", content="x " * 1024)
    trace = Trace(messages=(said,))
    long = Result(index=0, record_id=f"{FOREIGN}", status="evaluated", trace=trace)
    made = ResultRows("run_1", Redactor((), KINDS)).of_result(long, [])
    row = json.loads(kept_texts(made)[0])

    assert row["record_id"] == "[redacted:card]"
    assert row["model_response"] == row["trace"]["messages"][0]["content"] == said.content


def test_the_times_of_claimed_calls_stay() -> None:
    rules = RedactionRules(patterns=(), custom=(("digits", "[0-9]{4}"),))
    made = ResultRows("run_1", Redactor.by(rules, ()))
    rows = made.of_claim("holder", {"2026-01-02": [(4111, 0, 1, "id-1234", "a")]})

    assert json.loads(rows.claims["holder"]) == {
        "2026-01-02": [[4111, 0, 1, "id-[redacted:digits]", "a"]]
    }
    assert rows.redactions == {}


SCHEMAS = {
    "prediction": exemptions.PREDICTION,
    "attempt_log": exemptions.ATTEMPT,
    "failure": exemptions.FAILURE,
    "record_validation": exemptions.VALIDATION,
    "run_manifest": exemptions.MANIFEST,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_number_that_a_published_schema_names_is_ours(name: str) -> None:
    folder = files("steelyard.results")
    schema = json.loads((folder / f"{name}.schema.json").read_text(encoding="utf-8"))
    found = list(named_numbers(schema))

    assert found
    assert [path for path in found if not is_ours(path, SCHEMAS[name])] == []


def test_every_number_that_the_schema_of_a_score_names_is_ours() -> None:
    folder = files("steelyard.results")
    schema = json.loads((folder / "prediction.schema.json").read_text(encoding="utf-8"))

    for path in named_numbers(schema["$defs"]["score"]):
        assert is_ours(path, exemptions.SCORE)
        assert is_ours(path, exemptions.JUDGED_SCORE)


def is_ours(path: tuple[str, ...], exempt: Exemption) -> bool:
    return exempt.covers(path) or exempt.covers_number(path)


def named_numbers(schema: JsonObject, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of the numbers that a schema names, lists passed through."""
    kinds = cast("str | list[str]", schema.get("type", []))
    if {"integer", "number"} & {*(kinds if isinstance(kinds, list) else [kinds])}:
        yield path
    inner = cast("dict[str, Any]", schema.get("properties", {}))
    for name, part in inner.items():
        yield from named_numbers(part, (*path, name))
    if isinstance(schema.get("items"), dict):
        yield from named_numbers(cast(JsonObject, schema["items"]), path)


def parts() -> RequestPartRows:
    return RequestPartRows("run_1", Redactor(["a-secret-value"], ["email"]))


def test_a_text_is_kept_when_it_is_shown_again_and_only_then() -> None:
    kept = parts()

    assert kept.keep_beside("long") is None
    assert kept.take() == []
    sha256 = kept.keep_beside("long")
    assert sha256 == hashlib.sha256(b"long").hexdigest()
    assert kept.take() == [("run_1", sha256, b'"long"')]
    assert kept.keep_beside("long") == sha256
    assert kept.take() == []


def test_the_hash_is_that_of_the_text_as_it_is_written() -> None:
    kept = parts()
    text = "ann@example.org has a-secret-value"
    kept.keep_beside(text)
    sha256 = kept.keep_beside(text)
    ((_, named, data),) = kept.take()

    assert json.loads(data) == "[redacted:email] has [redacted]"
    assert sha256 == named == hashlib.sha256(json.loads(data).encode()).hexdigest()


def test_half_a_surrogate_pair_is_kept_as_text() -> None:
    kept = parts()
    kept.keep_beside("a\ud800")

    assert kept.keep_beside("a\ud800")
    assert json.loads(kept.take()[0][2]) == "a\ufffd"


def test_what_is_forgotten_is_new_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_rows, "MOST_KNOWN", 2)
    kept = parts()
    for text in ("a", "b", "c"):
        assert kept.keep_beside(text) is None

    assert kept.keep_beside("a") is None
