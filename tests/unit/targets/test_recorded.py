"""`recorded` answers with what was recorded, failures included."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import answer, failure, question
from steelyard.model.case import Case
from steelyard.ports import Sought
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.response_file import ResponseFile

TRACE = {
    "messages": [
        {"role": "assistant", "tool_calls": [{"tool": "hours", "output": "9"}]},
        {"role": "assistant", "content": "nine"},
    ],
    "usage": {"input_tokens": 4, "output_tokens": 1},
}


def recorded(folder: Path, *rows: dict[str, Any], candidate: str = "") -> RecordedTarget:
    path = folder / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return RecordedTarget("desk", ResponseFile(path), candidate)


def row(text: str = "nine", **fields: Any) -> dict[str, Any]:
    return {"record_id": "q1", "response_text": text, **fields}


def prediction(status: str, **fields: Any) -> dict[str, Any]:
    shared = {"record_id": "q1", "target": "live", "repeat": 0, "evaluator_scores": ()}
    return {**shared, "status": status, "trace": None, **fields}


def test_answers_with_the_recorded_text_and_latency(tmp_path: Path) -> None:
    trace = answer(recorded(tmp_path, row(latency_ms=420)))

    assert (trace.response, trace.latency_ms) == ("nine", 420)


@pytest.mark.parametrize(
    ("fields", "latency"),
    [({}, None), ({"latency_ms": 7}, 7), ({"latency_ms": 7, "response_text": "other"}, 7)],
)
def test_answers_with_the_recorded_trace(
    tmp_path: Path, fields: dict[str, Any], latency: float | None
) -> None:
    trace = answer(recorded(tmp_path, {"record_id": "q1", "trace": TRACE, **fields}))

    assert trace.response == "nine"
    assert trace.messages[0].tool_calls[0].tool == "hours"
    assert (trace.usage.total_tokens, trace.latency_ms) == (5, latency)


def test_the_latency_of_a_trace_wins_over_that_of_its_row(tmp_path: Path) -> None:
    both = {"record_id": "q1", "trace": {**TRACE, "latency_ms": 5}, "latency_ms": 7}

    assert answer(recorded(tmp_path, both)).latency_ms == 5


def test_a_trace_that_is_null_gives_way_to_the_text(tmp_path: Path) -> None:
    assert answer(recorded(tmp_path, row(trace=None))).response == "nine"


@pytest.mark.parametrize(("repeat", "said"), [(0, "first"), (1, "second")])
def test_answers_each_repeat_with_its_own_row(tmp_path: Path, repeat: int, said: str) -> None:
    target = recorded(tmp_path, row("second", repeat=1), row("first"))

    assert answer(target, question(repeat=repeat)).response == said


def test_answers_for_its_candidate_only(tmp_path: Path) -> None:
    rows = row("mine", candidate_name="a"), row("theirs", candidate_name="b")

    assert answer(recorded(tmp_path, *rows, candidate="b")).response == "theirs"


def test_each_attempt_gets_its_row_and_the_last_one_stays(tmp_path: Path) -> None:
    rows = (
        row("at last", attempt=3),
        {"record_id": "q1", "attempt": 1, "error_code": "service_unavailable", "message": "busy"},
        {"record_id": "q1", "attempt": 2, "error_code": "timeout"},
    )
    first = failure(recorded(tmp_path, *rows), question(attempt=1))
    second = failure(recorded(tmp_path, *rows), question(attempt=2))
    others = [answer(recorded(tmp_path, *rows), question(attempt=n)).response for n in (3, 4)]

    assert (first.code, str(first), first.retry_after_s) == ("service_unavailable", "busy", None)
    assert (second.code, str(second)) == ("timeout", "recorded failure: timeout")
    assert others == ["at last", "at last"]


def test_a_failure_after_which_nothing_was_recorded_is_not_worth_a_wait(tmp_path: Path) -> None:
    error = failure(recorded(tmp_path, {"record_id": "q1", "error_code": "rate_limited"}))

    assert (error.code, error.retry_after_s) == ("rate_limited", math.inf)


def test_an_error_code_wins_over_a_text(tmp_path: Path) -> None:
    assert failure(recorded(tmp_path, row(error_code="timeout"))).code == "timeout"


@pytest.mark.parametrize(
    ("made", "said"),
    [(prediction("evaluated", trace=TRACE), "nine"), (prediction("timeout", trace=TRACE), "nine")],
)
def test_a_prediction_answers_with_its_trace(
    tmp_path: Path, made: dict[str, Any], said: str
) -> None:
    assert answer(recorded(tmp_path, made, candidate="live")).response == said


@pytest.mark.parametrize(
    ("made", "code", "said"),
    [
        (prediction("timeout", reason="no answer within 1 s"), "timeout", "no answer within 1 s"),
        (prediction("evaluation_error", reason="HTTP 401"), "target_error", "HTTP 401"),
        (prediction("evaluation_error"), "target_error", "recorded failure: target_error"),
    ],
)
def test_a_prediction_without_a_trace_fails_as_it_did(
    tmp_path: Path, made: dict[str, Any], code: str, said: str
) -> None:
    error = failure(recorded(tmp_path, made, candidate="live"))

    assert (error.code, str(error)) == (code, said)


def test_a_field_called_status_makes_no_prediction(tmp_path: Path) -> None:
    assert answer(recorded(tmp_path, row(status="ok"))).response == "nine"


@pytest.mark.parametrize("trace", [{"messages": 7}, [], {"messages": [], "latency_ms": "x"}])
def test_a_recorded_trace_that_is_none_is_a_bad_response(tmp_path: Path, trace: object) -> None:
    error = failure(recorded(tmp_path, {"record_id": "q1", "trace": trace}))

    assert error.code == "bad_response"
    assert str(error).startswith("not a trace: ")


def test_a_record_without_a_row_has_no_response(tmp_path: Path) -> None:
    error = failure(recorded(tmp_path, row()), question(record="q2"))

    assert (error.code, str(error)) == ("no_response", "no recorded response for 'q2'")


def test_says_which_records_and_repeats_it_covers(tmp_path: Path) -> None:
    target = recorded(tmp_path, row(repeat=1))

    pairs = (("q1", 0), ("q1", 1), ("q2", 1))

    assert [target.covers(Sought(Case(id=name), repeat)) for name, repeat in pairs] == [
        False,
        True,
        False,
    ]
    answer(target, question(repeat=1))


def test_its_settings_name_file_and_candidate(tmp_path: Path) -> None:
    target = recorded(tmp_path, row(candidate_name="a"), candidate="a")

    assert target.described() == {
        "provider": "recorded",
        "path": str(tmp_path / "r.jsonl"),
        "candidate": "a",
    }
    answer(target)


def predicted(index: int, name: str | None, said: str, sha256: str) -> dict[str, Any]:
    """A row of a run's predictions."""
    trace = {"messages": [{"role": "assistant", "content": said}]}
    known = {"index": index, "record_id": name, "record_sha256": sha256, "repeat": 0}
    return {**known, "status": "evaluated", "evaluator_scores": [], "trace": trace}


PREDICTIONS = (
    predicted(0, "[redacted:email]", "zero", "aa"),
    predicted(1, "[redacted:email]", "one", "bb"),
    predicted(2, "c", "two", "cc"),
    predicted(3, None, "three", "dd"),
)


@pytest.mark.parametrize(
    ("name", "index", "sha256", "said"),
    [
        ("ann@example.com", 0, "aa", "zero"),
        ("bob@example.com", 1, "bb", "one"),
        ("ann@example.com", 1, "aa", None),
        ("[redacted:email]", 1, "changed by redaction", "one"),
        ("[redacted:email]", 7, "aa", None),
        ("c", 2, "cc", "two"),
        ("c", 2, "changed", "two"),
        ("c", 0, "cc", "two"),
        ("c", None, None, "two"),
        ("renamed", 2, "cc", "two"),
        ("", 3, "dd", "three"),
        ("", 3, "changed", None),
        ("other", 9, "ee", None),
    ],
)
def test_predictions_are_found_by_place_and_hash_or_place_and_id_or_a_single_id(
    tmp_path: Path, name: str, index: int | None, sha256: str | None, said: str | None
) -> None:
    target = recorded(tmp_path, *PREDICTIONS)
    request = question(record=name)._replace(index=index, record_sha256=sha256)
    sought = Sought(request.case, 0, index, lambda: sha256)

    assert target.covers(sought) is (said is not None)
    if said is None:
        assert failure(target, request).code == "no_response"
    else:
        assert answer(target, request).response == said


def test_a_hash_is_only_made_where_the_id_does_not_tell(tmp_path: Path) -> None:
    target = recorded(tmp_path, *PREDICTIONS)
    made: list[str] = []

    def sha256() -> str:
        made.append("aa")
        return "aa"

    assert target.covers(Sought(Case(id="c"), 0, 2, sha256))
    assert made == []
    assert target.covers(Sought(Case(id="ann@example.com"), 0, 0, sha256))
    assert made == ["aa"]
    asyncio.run(target.close())
