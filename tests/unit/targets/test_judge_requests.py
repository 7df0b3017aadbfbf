"""Calls to judges as each kind of target sends and answers them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import ask_once, question
from servers.notes import Notes
from servers.openai_server import COMPLETION, serving
from steelyard.errors import ConfigError, TargetError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.ports import Judged, Request
from steelyard.store.clock import SystemClock
from steelyard.targets.anthropic import AnthropicTarget
from steelyard.targets.callables import PythonTarget
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai import TOP_LOGPROBS, OpenAITarget, trace_with_logprobs
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.request_json import request_row
from steelyard.targets.response_file import ResponseFile

SCHEMA: JsonObject = {"type": "object", "properties": {"value": {"enum": [0, 1]}}}
JUDGED = Judged(
    schema=SCHEMA,
    is_held=True,
    wants_logprobs=False,
    candidate="live",
    check="right",
    judge="judge/fair@1.2.0",
    item=None,
    turn=None,
    sample=0,
    round=0,
)
MESSAGE = {"content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"}


def asking(judged: Judged = JUDGED, **more: Any) -> Request:
    return question("Is it right?", **more)._replace(judged=judged)


def sent(make: Callable[[str], Any], reply: object, request: Request) -> tuple[Any, Trace]:
    """The body of a request, and the answer to it."""
    notes = Notes(reply)

    async def main() -> Trace:
        async with serving(notes.answer) as url:
            return await ask_once(make(url), request)

    trace = asyncio.run(main())
    return notes.body, trace


def openai(url: str, **sampling: Any) -> OpenAITarget:
    settings = ModelSettings(base_url=url, model="m", headers={}, sampling=sampling)
    return OpenAITarget("judge", settings, SystemClock())


def anthropic(url: str) -> AnthropicTarget:
    settings = ModelSettings(base_url=url, model="m", headers={}, sampling={"max_tokens": 9})
    return AnthropicTarget("judge", settings, SystemClock())


def test_openai_is_held_to_the_schema() -> None:
    body, _ = sent(openai, COMPLETION, asking())

    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert "logprobs" not in body


def test_the_schema_of_a_judge_wins_over_the_format_of_its_target() -> None:
    body, _ = sent(lambda url: openai(url, response_format={"type": "text"}), COMPLETION, asking())

    assert body["response_format"]["type"] == "json_schema"


def test_what_cannot_be_held_is_sent_no_schema() -> None:
    request = asking(JUDGED._replace(is_held=False))

    assert "response_format" not in sent(openai, COMPLETION, request)[0]
    assert "output_config" not in sent(anthropic, MESSAGE, request)[0]


def test_anthropic_is_held_to_the_schema() -> None:
    body, trace = sent(anthropic, MESSAGE, asking())

    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert trace.response == "yes"


def completion(logprobs: object) -> dict[str, Any]:
    choice = {"message": {"content": "1"}, "logprobs": logprobs}
    return {"choices": [choice]}


TOKEN = {
    "token": "1",
    "logprob": -0.1,
    "top_logprobs": [{"token": "1", "logprob": -0.1}, {"token": "0", "logprob": -3}],
}


def test_openai_tells_how_likely_tokens_were_where_that_is_wanted() -> None:
    request = asking(JUDGED._replace(wants_logprobs=True))
    body, trace = sent(openai, completion({"content": [TOKEN]}), request)

    assert (body["logprobs"], body["top_logprobs"]) == (True, TOP_LOGPROBS)
    assert trace.extra["logprobs"] == [{"token": "1", "logprobs": {"1": -0.1, "0": -3.0}}]


ODD: list[tuple[Any, list[Any] | None]] = [
    (None, None),
    ("odd", None),
    ({"content": None}, None),
    ({"content": ["odd"]}, None),
    ({"content": [{"token": 1}]}, None),
    ({"content": [TOKEN, "odd", TOKEN]}, [{"1": -0.1, "0": -3.0}]),
    ({"content": [{"token": "1"}]}, [{}]),
    ({"content": [{"token": "1", "logprob": -1, "top_logprobs": ["odd"]}]}, [{"1": -1.0}]),
]


@pytest.mark.parametrize(("logprobs", "found"), ODD)
def test_what_a_server_says_of_tokens_is_taken_as_far_as_it_makes_sense(
    logprobs: object, found: list[Any] | None
) -> None:
    extra: Any = trace_with_logprobs(completion(logprobs), 1.0).extra
    rows = extra.get("logprobs")

    assert (rows and [row["logprobs"] for row in rows]) == found


def test_programs_are_told_the_schema_and_what_is_judged() -> None:
    row = request_row(asking(JUDGED._replace(item="kind", turn=2)))

    assert row["schema"] == SCHEMA
    assert row["judged"] == {
        "judge": "judge/fair@1.2.0",
        "candidate": "live",
        "check": "right",
        "item": "kind",
        "turn": 2,
        "sample": 0,
        "round": 0,
    }
    assert "schema" not in request_row(question())


def test_a_function_gets_the_prompt_of_a_judge() -> None:
    def judge(case: Case) -> str:
        return case.input_messages[0].text

    assert asyncio.run(ask_once(PythonTarget("judge", judge), asking())).response == "Is it right?"


def reply(text: str = "yes", **fields: Any) -> dict[str, Any]:
    row = {"record_id": "q1", "check": "right", "judge": "fair", "response_text": text}
    return {**row, **fields}


def recorded(folder: Path, *rows: dict[str, Any], candidate: str = "") -> RecordedTarget:
    path = folder / "r.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return RecordedTarget("judge", ResponseFile(path), candidate)


def said(target: RecordedTarget, request: Request) -> str:
    return asyncio.run(ask_once(target, request)).response


@pytest.mark.parametrize(
    "judge", ["fair", "fair@1.2", "fair@1.2.0", "judge/fair", "judge/fair@1.2", "judge/fair@1.2.0"]
)
def test_a_recorded_reply_is_found_by_the_name_of_its_judge(tmp_path: Path, judge: str) -> None:
    target = recorded(tmp_path, reply("no", judge="other"), reply(judge=judge))

    assert said(target, asking()) == "yes"


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"check": "left"}, {"check": "left"}),
        ({"question": "kind"}, {"item": "kind"}),
        ({"criterion": "c1"}, {"item": "c1"}),
        ({"item": "c1"}, {"item": "c1"}),
        ({"turn": 2}, {"turn": 2}),
        ({"sample": 1}, {"sample": 1}),
        ({"round": 1}, {"round": 1}),
        ({"candidate_name": "live"}, {}),
    ],
)
def test_a_recorded_reply_belongs_to_what_was_asked(
    tmp_path: Path, fields: dict[str, Any], asked: dict[str, Any]
) -> None:
    target = recorded(tmp_path, reply("plain"), reply("mine", **fields))

    assert said(target, asking(JUDGED._replace(**asked))) == "mine"


def test_a_recorded_reply_belongs_to_a_repeat_and_an_attempt(tmp_path: Path) -> None:
    rows = reply("0"), reply("1", repeat=1), reply("2", repeat=1, attempt=2)

    for asked, text in (((0, 1), "0"), ((1, 1), "1"), ((1, 2), "2"), ((1, 3), "2")):
        target = recorded(tmp_path, *rows)
        assert said(target, asking(repeat=asked[0], attempt=asked[1])) == text


def test_a_version_and_a_candidate_that_are_named_win(tmp_path: Path) -> None:
    rows = [
        reply("any"),
        reply("version", judge="fair@1.2.0"),
        reply("candidate", candidate_name="live"),
    ]
    other = asking(JUDGED._replace(candidate="else"))

    assert said(recorded(tmp_path, *rows), asking()) == "candidate"
    assert said(recorded(tmp_path, *rows), other) == "version"


def test_a_reply_without_a_check_is_about_every_check(tmp_path: Path) -> None:
    rows = [reply("any", check=None), reply("left", check="left")]
    target = recorded(tmp_path, *rows)

    assert [target.has_replies("q1", check) for check in ("left", "right")] == [True, True]
    assert said(target, asking(JUDGED._replace(check="right"))) == "any"
    assert said(recorded(tmp_path, *rows), asking(JUDGED._replace(check="left"))) == "left"


def test_a_missing_recording_says_which_one(tmp_path: Path) -> None:
    judged = JUDGED._replace(item="kind", turn=2, sample=1, round=1)
    with pytest.raises(TargetError) as caught:
        said(recorded(tmp_path, reply()), asking(judged))

    assert caught.value.code == "no_response"
    assert str(caught.value) == (
        "no recorded reply of judge/fair@1.2.0 for 'q1' "
        "(check 'right', item 'kind', turn 2, sample 1, round 1)"
    )


def test_a_recorded_failure_of_a_judge_fails(tmp_path: Path) -> None:
    target = recorded(tmp_path, reply(response_text=None, error_code="timeout"))
    with pytest.raises(TargetError) as caught:
        said(target, asking())

    assert caught.value.code == "timeout"


def test_replies_of_judges_are_no_responses_of_candidates(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    rows = [reply(), {"record_id": "q1", "response_text": "nine", "candidate_name": "live"}]
    path.write_text(json.dumps([*rows, reply(candidate_name="other")]), encoding="utf-8")
    responses = ResponseFile(path)

    assert (responses.candidates, responses.reply_count) == ({"live": 1}, 2)
    assert [row["response_text"] for row in responses.rows("q1", "live")] == ["nine"]
    responses.close()


def test_what_was_recorded_of_judges_is_known_by_record_and_check(tmp_path: Path) -> None:
    target = recorded(tmp_path, reply(), reply(record_id="q2", check="left", item="kind"))
    pairs = [("q1", "right"), ("q2", "left"), ("q1", "left"), ("q2", "right"), ("q3", "right")]

    assert [target.has_replies(*pair) for pair in pairs] == [True, True, False, False, False]
    asyncio.run(target.close())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"check": 7}, "check must be a text"),
        ({"check": ""}, "check must be a text"),
        ({"judge": 7}, "needs 'judge', a text"),
        ({"judge": ""}, "needs 'judge', a text"),
        ({"judge": None}, "needs 'judge', a text"),
        ({"question": 7}, "question and criterion must be a text"),
        ({"turn": 0}, "turn must be a whole number from 1"),
        ({"sample": -1}, "sample must be a whole number from 0"),
        ({"round": "1"}, "round must be a whole number from 0"),
        ({"response_text": None}, "neither response_text, trace nor error_code"),
    ],
)
def test_a_reply_that_cannot_be_one_is_refused_with_its_line(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=rf"r\.jsonl:2: .*{message}"):
        recorded(tmp_path, reply(record_id="q0"), reply(**fields))


def test_a_second_reply_to_the_same_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="a second reply of 'fair' to 'q1' of 'live' with repeat"
    ):
        recorded(tmp_path, *(reply(candidate_name="live") for _ in range(2)))
