"""`http` against a real endpoint: what is sent, and where the answer is found."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import ask_once, question
from servers.notes import Notes
from servers.openai_server import Answer, says, sends, serving
from steelyard.errors import TargetError
from steelyard.model.case import AnswerChoice, Case
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Prompt, Request, Target
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.making import TargetMaker

KEY = "sk-canary-1234567890"
REPLY = {"answer": "At nine."}
TRACE: dict[str, Any] = {
    "messages": [
        {"role": "assistant", "tool_calls": [{"tool": "hours", "input": {"day": 7}}]},
        {"role": "assistant", "content": "At nine."},
    ],
    "model": "m-1",
}
CASE = Case(
    id="q1",
    dataset="desk",
    input_messages=(Message(role="user", content="Hé?"),),
    reference_answers=("At nine.",),
    expected_outcome="Says nine.",
    expected={"max_latency_ms": 5},
    tags=("a",),
    metadata={"topic": "trains"},
    choices=(AnswerChoice("A", "nine"),),
    correct_choice_ids=("A",),
    extra={"secret": "At nine."},
)
REQUEST = Request(CASE, Prompt((("system", "Be kind."), ("user", "Hé?")), "Be kind. Hé?"), 2, 3)


def target(url: str, **settings: Any) -> Target:
    given = {"provider": "http", "url": url, **settings}
    maker = TargetMaker(
        Path.cwd(), {"live": TargetEntry.of(given)}, {"MY_KEY": KEY}, SystemClock()
    )
    return maker.make("live").target


def answered(reply: Answer, /, **settings: Any) -> Trace:
    async def main() -> Trace:
        async with serving(reply) as url:
            return await ask_once(target(url, **settings), REQUEST)

    return asyncio.run(main())


def fault(reply: Answer, /, **settings: Any) -> TargetError:
    with pytest.raises(TargetError) as caught:
        answered(reply, **settings)
    return caught.value


def asked(**settings: Any) -> Notes:
    """What an endpoint sees of a request."""
    notes = Notes(REPLY)
    answered(notes.answer, answer="answer", **settings)
    return notes


def test_without_a_template_the_request_is_what_agents_get() -> None:
    notes = asked()

    assert notes.line == "POST /v1"
    assert notes.body == {
        "id": "q1",
        "prompt": "Be kind. Hé?",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hé?"},
        ],
        "repeat": 2,
        "attempt": 3,
    }


def test_a_template_is_filled() -> None:
    body = {
        "input": "Q: {{ prompt }}",
        "chat": "{{ messages }}",
        "topic": "{{ case.metadata.topic }}",
        "n": ["{{ id }}", "{{ repeat }}", "{{ attempt }}", 0.5, None],
    }

    assert asked(body=body).body == {
        "input": "Q: Be kind. Hé?",
        "chat": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hé?"}],
        "topic": "trains",
        "n": ["q1", 2, 3, 0.5, None],
    }


def test_a_body_need_not_be_an_object() -> None:
    assert asked(body="{{ prompt }}").body == "Be kind. Hé?"


def test_the_case_goes_without_what_would_give_the_answer_away() -> None:
    notes = asked(body="{{ case }}")

    assert notes.body == {
        "id": "q1",
        "dataset": "desk",
        "conversation_id": None,
        "context": "",
        "task_type": None,
        "tags": ["a"],
        "metadata": {"topic": "trains"},
        "choices": [{"id": "A", "text": "nine"}],
    }
    assert b"At nine" not in notes.data


def test_a_get_asks_by_its_query() -> None:
    query = {"q": "{{ prompt }}", "top": 3, "exact": True, "of": "{{ case.tags }}"}
    notes = asked(method="GET", query=query)

    assert notes.line == "GET /v1?q=Be%20kind.%20H%C3%A9%3F&top=3&exact=true&of=%5B%22a%22%5D"
    assert notes.data == b""


def test_a_post_may_have_a_query_too() -> None:
    notes = asked(query={"lang": "en"})

    assert notes.line == "POST /v1?lang=en"
    assert notes.body["prompt"] == "Be kind. Hé?"


def test_sends_its_key_and_headers_each_once() -> None:
    headers = {"X-Team": "evals", "Content-Type": "text/other", "Authorization": "Basic other"}
    notes = asked(api_key_env="MY_KEY", headers=headers)

    assert notes.headers["authorization"] == f"Bearer {KEY}"
    assert notes.headers["content-type"] == "application/json"
    assert notes.headers["x-team"] == "evals"


@pytest.mark.parametrize(
    ("reply", "path", "said"),
    [
        ({"choices": [{"text": "nine"}]}, "choices[0].text", "nine"),
        ([{"text": "nine"}], "[0].text", "nine"),
        ({"a.b": 1, "n": 3}, "n", "3"),
        ({"label": True}, "label", "true"),
        ({"out": {"hours": "é"}}, "out", '{"hours": "é"}'),
        ({"out": [1, 2]}, "out", "[1, 2]"),
        ({"out": ""}, "out", ""),
        ({"out": "nine", "error": "ignored"}, "out", "nine"),
    ],
)
def test_the_answer_is_found_by_its_path(reply: object, path: str, said: str) -> None:
    trace = answered(says(reply), answer=path)

    assert trace.response == said
    assert len(trace.messages) == 1
    assert trace.latency_ms is not None


@pytest.mark.parametrize(
    ("reply", "settings", "said"),
    [
        ({"a": 1}, {"answer": "b[0].c"}, "'b[0].c' (answer) is not there in the reply"),
        ({"b": []}, {"answer": "b[0].c"}, "'b[0].c' (answer) is not there in the reply"),
        ({"b": None}, {"answer": "b"}, "'b' (answer) is null in the reply"),
        ({"b": None}, {"trace": "b"}, "'b' (trace) is null in the reply"),
        ({"b": 7}, {"trace": "b"}, "neither a trace"),
        ({"b": {"messages": 7}}, {"trace": "b"}, "not a trace"),
        ({"b": 7}, {}, "neither a trace"),
        ("nine", {}, "neither a trace"),
    ],
)
def test_an_answer_that_is_not_there_is_told_with_its_path(
    reply: object, settings: dict[str, Any], said: str
) -> None:
    error = fault(says(reply), **settings)

    assert (error.code, error.http_status) == ("bad_response", 200)
    assert said in str(error)


@pytest.mark.parametrize("settings", [{}, {"answer": "a"}, {"trace": "a"}])
def test_an_error_in_place_of_the_answer_is_permanent(settings: dict[str, Any]) -> None:
    error = fault(says({"error": {"message": "no such tool"}}), **settings)

    assert (error.code, str(error)) == (
        "bad_request",
        "the endpoint answers with an error: no such tool",
    )


@pytest.mark.parametrize(
    ("reply", "settings"),
    [
        (TRACE, {}),
        ({"result": [TRACE]}, {"trace": "result[0]"}),
    ],
)
def test_a_whole_trace_may_be_the_reply_or_stand_in_it(
    reply: object, settings: dict[str, Any]
) -> None:
    trace = answered(says(reply), **settings)

    assert trace.messages[0].tool_calls == (ToolCall(tool="hours", input={"day": 7}),)
    assert (trace.response, trace.model) == ("At nine.", "m-1")
    assert trace.latency_ms is not None


def test_a_response_text_is_a_reply_too() -> None:
    assert answered(says({"response_text": "nine", "latency_ms": 4})).latency_ms == 4


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (
            {"input_tokens": "meta.in", "output_tokens": "meta.out"},
            Usage(input_tokens=7, output_tokens=2),
        ),
        ({"output_tokens": "meta.out"}, Usage(output_tokens=2)),
        ({"input_tokens": "meta.none"}, Usage()),
        ({"input_tokens": "meta.bad"}, Usage()),
    ],
)
def test_tokens_are_counted_where_the_reply_says(usage: dict[str, str], counted: Usage) -> None:
    reply = {**REPLY, "meta": {"in": 7, "out": 2, "bad": "x"}}

    assert answered(says(reply), answer="answer", usage=usage).usage == counted


def test_usage_of_the_reply_wins_over_that_of_its_trace() -> None:
    reply = {"t": {**TRACE, "usage": {"input_tokens": 1, "output_tokens": 1}}, "in": 9}
    trace = answered(says(reply), trace="t", usage={"input_tokens": "in"})

    assert trace.usage == Usage(input_tokens=9, output_tokens=1)


def test_a_reply_that_ends_within_a_character_is_still_a_reply() -> None:
    data = json.dumps(REPLY).replace("nine.", "nine \\ud83d").encode()

    assert answered(sends(data), answer="answer").response == "At nine \ufffd"


@pytest.mark.parametrize(
    "settings", [{}, {"method": "GET", "query": {"q": "{{ prompt }}"}}, {"body": "{{ prompt }}"}]
)
def test_a_prompt_that_is_no_text_is_a_bad_request(settings: dict[str, Any]) -> None:
    made = target("http://127.0.0.1:1/", **settings)
    with pytest.raises(TargetError) as caught:
        asyncio.run(ask_once(made, question("half \ud83d")))

    assert caught.value.code == "bad_request"


def test_its_settings_show_neither_key_nor_header_values() -> None:
    described = target(
        "http://127.0.0.1:1/ask",
        api_key_env="MY_KEY",
        headers={"X-Secret": "hush-hush-hush"},
        body={"q": "{{ prompt }}"},
        answer="a",
        model="m-1",
    ).described()

    assert described == {
        "provider": "http",
        "url": "http://127.0.0.1:1/ask",
        "method": "POST",
        "timeout_s": 60.0,
        "headers": ["X-Secret"],
        "body": {"q": "{{ prompt }}"},
        "answer": "a",
        "model": "m-1",
    }
