"""`anthropic` against a real endpoint: what is sent, and what becomes of a good answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.asking import ask_once, question
from servers.anthropic_server import MESSAGE
from servers.notes import Notes
from servers.openai_server import Answer, says, serving
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.trace import Trace
from steelyard.ports import Prompt, Request
from steelyard.store.clock import SystemClock
from steelyard.targets.anthropic import OPENING, AnthropicTarget, conversation
from steelyard.targets.model_settings import ModelSettings

KEY = "sk-canary-1234567890"
SAMPLING = {"max_tokens": 64}


def target(base_url: str, **settings: Any) -> AnthropicTarget:
    given: dict[str, Any] = {"model": "m-1", "headers": {}, "sampling": SAMPLING, **settings}
    return AnthropicTarget("live", ModelSettings(base_url=base_url, **given), SystemClock())


def answered(
    answer: Answer, request: Request | None = None, path: str = "", **settings: Any
) -> Trace:
    async def main() -> Trace:
        async with serving(answer) as url:
            return await ask_once(target(url.removesuffix("/v1") + path, **settings), request)

    return asyncio.run(main())


def test_a_good_answer_becomes_a_trace() -> None:
    trace = answered(says(MESSAGE))

    assert (trace.response, trace.model) == ("At nine.", "m-1-exact")
    assert trace.finish_reason == "end_turn"
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (12, 3)
    assert trace.latency_ms is not None
    assert 0 < trace.latency_ms < 10_000


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_address_may_be_written_with_or_without_the_version(path: str) -> None:
    notes = Notes(MESSAGE)
    answered(notes.answer, path=path)

    assert notes.line == "POST /v1/messages"


def test_a_gateway_keeps_its_path() -> None:
    notes = Notes(MESSAGE)
    answered(notes.answer, path="/proxy/claude")

    assert notes.line == "POST /proxy/claude/v1/messages"


def test_asks_with_model_limit_and_conversation() -> None:
    notes = Notes(MESSAGE)
    messages = (("system", "Be kind."), ("user", "Hé?"))
    sampling = {"max_tokens": 5, "temperature": 0, "top_p": 0.5}
    answered(notes.answer, Request(Case(id="q"), Prompt(messages, "Hé?")), sampling=sampling)

    assert notes.body == {
        "model": "m-1",
        "system": "Be kind.",
        "messages": [{"role": "user", "content": "Hé?"}],
        "max_tokens": 5,
        "temperature": 0,
        "top_p": 0.5,
    }


def test_sends_its_key_and_version_each_once() -> None:
    notes = Notes(MESSAGE)
    headers = {"X-Api-Key": "another", "Anthropic-Beta": "b-1", "Content-Type": "text/other"}
    answered(notes.answer, api_key=KEY, headers=headers)

    assert notes.headers["x-api-key"] == KEY
    assert notes.headers["anthropic-version"] == "2023-06-01"
    assert notes.headers["anthropic-beta"] == "b-1"
    assert notes.headers["content-type"] == "application/json"
    assert "authorization" not in notes.headers


def test_another_version_of_the_protocol_may_be_named() -> None:
    notes = Notes(MESSAGE)
    answered(notes.answer, headers={"Anthropic-Version": "2030-01-01"})

    assert notes.headers["anthropic-version"] == "2030-01-01"
    assert "x-api-key" not in notes.headers


@pytest.mark.parametrize(
    ("messages", "system", "turns"),
    [
        ([("user", "a")], None, [("user", "a")]),
        ([("system", "s"), ("user", "a")], "s", [("user", "a")]),
        (
            [("system", "s"), ("user", "a"), ("system", "t"), ("user", "b")],
            "s\n\nt",
            [("user", "a\n\nb")],
        ),
        (
            [("user", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "d")],
            None,
            [("user", "a"), ("assistant", "b\n\nc"), ("user", "d")],
        ),
        (
            [("assistant", "Hello!"), ("user", "a")],
            None,
            [("user", OPENING), ("assistant", "Hello!"), ("user", "a")],
        ),
        ([("user", "a"), ("assistant", "b")], None, [("user", "a"), ("assistant", "b")]),
        ([("system", "s")], None, [("user", "s")]),
    ],
    ids=["one", "system", "systems", "same role", "opened", "prefilled", "system alone"],
)
def test_the_conversation_takes_the_form_that_the_protocol_demands(
    messages: list[tuple[str, str]], system: str | None, turns: list[tuple[str, str]]
) -> None:
    made = conversation(Prompt(tuple(messages), ""))

    assert made.get("system") == system
    assert made["messages"] == [{"role": role, "content": text} for role, text in turns]


def test_its_settings_show_neither_key_nor_header_values() -> None:
    described = target(
        "http://127.0.0.1:1", api_key=KEY, headers={"X-Secret": "hush-hush-hush"}
    ).described()

    assert described == {
        "provider": "anthropic",
        "base_url": "http://127.0.0.1:1",
        "model": "m-1",
        "timeout_s": 60.0,
        "headers": ["X-Secret"],
        "max_tokens": 64,
    }


def test_the_id_of_a_request_is_found_in_its_own_header() -> None:
    with pytest.raises(TargetError) as caught:
        answered(
            says({"type": "error", "error": {"message": "Overloaded"}}, 529, request_id="req_7"),
            question(),
        )

    assert (caught.value.code, caught.value.request_id) == ("service_unavailable", "req_7")
    assert str(caught.value) == "HTTP 529: Overloaded"
