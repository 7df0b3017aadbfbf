"""Streams of events: whatever the bytes are cut into, the answer is the one that comes whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.asking import ask_once
from fakes.clock import ManualClock
from servers.anthropic_server import MESSAGE
from servers.notes import Notes
from servers.openai_server import COMPLETION, Answer, floods, hangs, says, sends, serving, trickles
from servers.responses_server import RESPONSE, response_events
from servers.scripted_bytes import scripted
from servers.streams import DONE, Events, chat_events, message_events, streams, written
from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject
from steelyard.model.run import TRANSIENT
from steelyard.model.trace import Trace
from steelyard.store.clock import SystemClock
from steelyard.targets.anthropic import AnthropicTarget, trace_of_message
from steelyard.targets.chat_stream import CHAT_STREAM
from steelyard.targets.event_stream import Event, EventLines, EventStream, FirstToken
from steelyard.targets.message_stream import MESSAGE_STREAM
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai import OpenAITarget, trace_with_logprobs
from steelyard.targets.responses import RESPONSE_STREAM, ResponsesTarget
from steelyard.targets.responses import trace_with_logprobs as trace_of_response
from strategies.effort import examples

TEXTS = st.text(max_size=30)
LINES = st.sampled_from(["\n", "\r\n", "\r"])
CALLS = st.lists(st.tuples(st.text(min_size=1, max_size=9), TEXTS), max_size=3)


class Protocol(NamedTuple):
    """How a protocol says the same in one piece and as a stream."""

    stream: EventStream
    trace_of: Callable[[JsonObject, float], Trace]
    events: Callable[..., Events]


CHAT = Protocol(CHAT_STREAM, trace_with_logprobs, chat_events)
MESSAGES = Protocol(MESSAGE_STREAM, trace_of_message, message_events)
RESPONSES = Protocol(RESPONSE_STREAM, trace_of_response, response_events)


@st.composite
def completions(draw: st.DrawFn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": draw(st.none() | TEXTS)}
    if refusal := draw(TEXTS):
        message["refusal"] = refusal
    if calls := draw(CALLS):
        message["tool_calls"] = [
            {"id": f"call_{number}", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ]
    choice: dict[str, Any] = {"message": message, "finish_reason": draw(st.sampled_from(["stop"]))}
    if tokens := draw(st.lists(TEXTS, max_size=3)):
        choice["logprobs"] = {"content": [{"token": one, "logprob": -0.5} for one in tokens]}
    counted: dict[str, Any] = {"usage": COMPLETION["usage"]} if draw(st.booleans()) else {}
    return {"id": "c-1", "model": "m-1", "choices": [choice], **counted}


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    thoughts = [
        {"type": "thinking", "thinking": said, "signature": "s-1"}
        for said in draw(st.lists(TEXTS))
    ]
    texts = [{"type": "text", "text": said} for said in draw(st.lists(TEXTS, max_size=3))]
    inputs = st.dictionaries(TEXTS, TEXTS | st.integers(-9, 9), max_size=3)
    calls = [
        {"type": "tool_use", "id": f"t-{number}", "name": name, "input": draw(inputs)}
        for number, (name, _) in enumerate(draw(CALLS))
    ]
    stop = draw(st.sampled_from(["end_turn", "refusal", "max_tokens"]))
    return {**MESSAGE, "content": [*thoughts, *texts, *calls], "stop_reason": stop}


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": said} for said in draw(st.lists(TEXTS, max_size=2))]
    if refusal := draw(TEXTS):
        parts.append({"type": "refusal", "refusal": refusal})
    thoughts = [
        {"type": "summary_text", "text": said} for said in draw(st.lists(TEXTS, max_size=2))
    ]
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "summary": thoughts},
        {"type": "message", "role": "assistant", "content": parts},
        *(
            {"type": "function_call", "call_id": name, "name": name, "arguments": arguments}
            for name, arguments in draw(CALLS)
        ),
    ]
    ended: dict[str, Any] = {"status": draw(st.sampled_from(["completed", "incomplete"]))}
    if ended["status"] == "incomplete":
        ended["incomplete_details"] = {"reason": "max_output_tokens"}
    output = [{"id": f"i-{number}", **item} for number, item in enumerate(items)]
    return {**RESPONSE, "output": output, **ended}


WHOLE = (
    st.tuples(st.just(CHAT), completions())
    | st.tuples(st.just(MESSAGES), messages())
    | st.tuples(st.just(RESPONSES), responses())
)


@given(WHOLE, st.integers(1, 9), LINES)
@settings(max_examples=examples(100))
def test_a_stream_and_an_answer_in_one_piece_are_the_same_trace(
    said: tuple[Protocol, dict[str, Any]], size: int, line: str
) -> None:
    protocol, whole = said

    def pieces(text: str) -> list[str]:
        return [text[start : start + size] for start in range(0, len(text), size)]

    data = written(protocol.events(whole, pieces), line)
    streamed = protocol.trace_of(protocol.stream.answer(data), 1.0)

    assert streamed == protocol.trace_of(json.loads(json.dumps(whole)), 1.0)
    assert protocol.stream.answer(json.dumps(whole).encode()) == whole


@given(WHOLE, st.lists(st.integers(0, 4000)), LINES)
@settings(max_examples=examples(100))
def test_events_are_found_wherever_the_bytes_are_cut(
    said: tuple[Protocol, dict[str, Any]], cuts: list[int], line: str
) -> None:
    protocol, whole = said
    data = written(protocol.events(whole), line)
    places = [0, *sorted(cuts), len(data)]
    lines, found = EventLines(), list[Event]()
    for start, end in pairwise(places):
        found += lines.fed(data[start:end])

    texts = [one if isinstance(one, str) else json.dumps(one) for _, one in protocol.events(whole)]
    shown = [event.data.decode() for event in (*found, *lines.rest())]
    assert [text == "[DONE]" or json.loads(text) for text in shown] == [
        text == "[DONE]" or json.loads(text) for text in texts
    ]


QUIET: Events = [("", {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})]
SAID: Events = [("", {"choices": [{"index": 0, "delta": {"content": "At"}}]})]
THOUGHT: Events = [("", {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm"}}]})]
CALLED: Events = [("", {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "t"}]}}]})]


@pytest.mark.parametrize("begun", [SAID, THOUGHT, CALLED])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_first_token_is_timed_when_its_event_is_there(begun: Events, size: int) -> None:
    clock = ManualClock()
    first = FirstToken(CHAT_STREAM, clock)
    quiet, data = written(QUIET), written(begun)
    for start in range(0, len(quiet), size):
        first.watch(quiet[start : start + size])
    assert first.at is None
    clock.move(3)
    first.watch(data)
    clock.move(3)
    first.watch(written(SAID))

    assert first.at == 3


@pytest.mark.parametrize(
    ("kind", "data", "begins"),
    [
        ("message_start", {"message": MESSAGE}, False),
        ("ping", {}, False),
        ("content_block_start", {"content_block": {"type": "text", "text": ""}}, False),
        ("content_block_start", {"content_block": {"type": "tool_use", "id": "t"}}, True),
        ("content_block_delta", {"delta": {"type": "text_delta", "text": "At"}}, True),
        ("content_block_delta", {"delta": {"type": "thinking_delta", "thinking": "Hm"}}, True),
        ("content_block_delta", {"delta": {"type": "text_delta", "text": ""}}, False),
    ],
)
def test_a_message_begins_with_what_the_model_says(
    kind: str, data: dict[str, Any], begins: bool
) -> None:
    assert MESSAGE_STREAM.begins({"type": kind, **data}) is begins


ENDED: Events = [("", {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})]


def test_calls_that_share_an_index_stay_apart() -> None:
    pieces = [
        {"index": 0, "id": "a", "function": {"name": "hours", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "fees", "arguments": '{"of":'}},
        {"index": 0, "function": {"arguments": " 2}"}},
    ]
    events = [("", {"choices": [{"delta": {"tool_calls": [piece]}}]}) for piece in pieces]
    trace = trace_with_logprobs(CHAT_STREAM.answer(written([*events, *ENDED, DONE])), 1.0)

    assert [(call.id, call.tool, call.input) for call in trace.messages[0].tool_calls] == [
        ("a", "hours", {}),
        ("b", "fees", {"of": 2}),
    ]


def test_a_stream_that_ends_in_order_but_without_a_reason_is_cut_off() -> None:
    with pytest.raises(TargetError, match="the stream was cut off after 2 events"):
        CHAT_STREAM.answer(written([*QUIET, *SAID, DONE]))


def test_an_error_that_is_an_event_of_its_own_ends_a_stream() -> None:
    error = {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}
    with pytest.raises(TargetError, match="error: too long") as caught:
        CHAT_STREAM.answer(written([*SAID, ("", error), DONE]))

    assert caught.value.code == "bad_request"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"message": "boom"}, "boom"),
        ({"error": {"message": "boom"}}, "boom"),
        ({"code": 500, "detail": "boom"}, "{'code': 500, 'detail': 'boom'}"),
        ("boom", "boom"),
        ([], "[]"),
        ("", "an event 'error' that says no more"),
    ],
)
@pytest.mark.parametrize("protocol", [CHAT, MESSAGES, RESPONSES])
def test_an_event_called_error_fails_the_attempt_whatever_it_holds(
    protocol: Protocol, data: Any, said: str
) -> None:
    whole = {CHAT: COMPLETION, MESSAGES: MESSAGE, RESPONSES: RESPONSE}[protocol]
    first, *rest = protocol.events(whole)
    with pytest.raises(TargetError) as caught:
        protocol.stream.answer(written([first, ("error", data), *rest]))

    assert caught.value.code == "internal_error"
    assert str(caught.value) == f"the endpoint answers with an error: {said}"


def test_an_error_without_data_fails_the_attempt() -> None:
    data = written(SAID) + b"event: error\n\n" + written([*ENDED, DONE])
    with pytest.raises(TargetError, match="an event 'error' that says no more"):
        CHAT_STREAM.answer(data)


def test_the_name_of_an_event_is_not_that_of_the_next() -> None:
    named: Events = [("chunk", QUIET[0][1]), *chat_events(COMPLETION)]

    assert CHAT_STREAM.answer(written(named)) == CHAT_STREAM.answer(
        written(chat_events(COMPLETION))
    )


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        ({"finish_reason": "error"}, "internal_error", "finish_reason is 'error'"),
        (
            {"finish_reason": "error", "error": {"code": 429, "message": "slow"}},
            "rate_limited",
            "slow",
        ),
        ({"error": {"message": "lost"}}, "internal_error", "lost"),
    ],
)
def test_a_choice_that_ends_in_an_error_fails_the_attempt(
    more: dict[str, Any], code: str, said: str
) -> None:
    broken: Events = [("", {"choices": [{"index": 0, "delta": {}, **more}]})]
    streamed = written([*SAID, *broken, *ENDED, DONE])
    choice = {"index": 0, "message": {"role": "assistant", "content": "At"}, **more}
    for answer in (streamed, json.dumps({"choices": [choice]}).encode()):
        with pytest.raises(TargetError) as caught:
            trace_with_logprobs(CHAT_STREAM.answer(answer), 1.0)

        assert caught.value.code == code
        assert str(caught.value) == f"the endpoint answers with an error: {said}"


def test_what_a_filter_says_beside_an_answer_does_not_change_it() -> None:
    beside = {"id": "", "model": "", "object": "", "usage": None}
    verdict: dict[str, Any] = {"index": 0, "finish_reason": None, "content_filter_results": {}}
    before: Events = [("", {**beside, "choices": [], "prompt_filter_results": []})]
    after: Events = [("", {**beside, "choices": [verdict]})]
    *events, last = chat_events(COMPLETION)
    whole = CHAT_STREAM.answer(written([*before, *events, *after, last]))

    assert trace_with_logprobs(whole, 1.0) == trace_with_logprobs(COMPLETION, 1.0)


def openai(url: str, **more: Any) -> OpenAITarget:
    made = ModelSettings(base_url=url, model="m", headers={}, sampling={}, stream=True, **more)
    return OpenAITarget("live", made, SystemClock())


def anthropic(url: str, **more: Any) -> AnthropicTarget:
    base = url.removesuffix("/v1")
    made = ModelSettings(base_url=base, model="m", headers={}, sampling={}, stream=True, **more)
    return AnthropicTarget("live", made, SystemClock())


def responding(url: str, **more: Any) -> ResponsesTarget:
    made = ModelSettings(base_url=url, model="m", headers={}, sampling={}, stream=True, **more)
    return ResponsesTarget("live", made, SystemClock())


TARGETS: dict[str, Any] = {
    "openai": (openai, chat_events(COMPLETION)),
    "anthropic": (anthropic, message_events(MESSAGE)),
    "responses": (responding, response_events(RESPONSE)),
}
WHOLES = {"openai": COMPLETION, "anthropic": MESSAGE, "responses": RESPONSE}
"""What each answers in one piece."""


@pytest.fixture(params=TARGETS)
def provider(request: pytest.FixtureRequest) -> str:
    """Every provider that streams."""
    return request.param


def answered(provider: str, answer: Answer, **more: Any) -> Trace:
    async def main() -> Trace:
        async with serving(answer) as url:
            return await ask_once(TARGETS[provider][0](url, **more))

    return asyncio.run(main())


def fault(provider: str, answer: Answer, **more: Any) -> TargetError:
    with pytest.raises(TargetError) as caught:
        answered(provider, answer, **more)
    return caught.value


def test_a_streamed_answer_has_a_time_to_its_first_token(provider: str) -> None:
    trace = answered(provider, streams(written(TARGETS[provider][1])))

    assert (trace.response, trace.model) == ("At nine.", "m-1-exact")
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (12, 3)
    assert trace.first_token_ms is not None
    assert trace.latency_ms is not None
    assert 0 < trace.first_token_ms <= trace.latency_ms


def test_an_endpoint_that_does_not_stream_has_none(provider: str) -> None:
    trace = answered(provider, says(WHOLES[provider]))

    assert (trace.response, trace.first_token_ms) == ("At nine.", None)


@pytest.mark.parametrize(
    ("provider", "asked"),
    [
        ("openai", {"stream": True, "stream_options": {"include_usage": True}}),
        ("anthropic", {"stream": True}),
        ("responses", {"stream": True}),
    ],
)
def test_a_stream_is_asked_for_unpacked(provider: str, asked: dict[str, Any]) -> None:
    notes = Notes(WHOLES[provider])
    answered(provider, notes.answer)

    assert {name: notes.body.get(name) for name in asked} == asked
    assert notes.headers["accept-encoding"] == "identity"


def test_a_stream_that_is_cut_off_is_told_and_may_be_tried_again(provider: str) -> None:
    data = written(TARGETS[provider][1])
    half = len(data) // 2
    framed = fault(provider, streams(data, is_cut=True, cut_after=half))
    unframed = fault(provider, streams(data, cut_after=half))

    assert (framed.code, str(framed)) == ("internal_error", "the answer was cut off")
    assert unframed.code == "internal_error"
    assert str(unframed).startswith("the stream was cut off after ")
    assert framed.code in TRANSIENT


@given(st.sampled_from(sorted(TARGETS)), st.floats(0, 0.999))
@settings(max_examples=examples(100))
def test_part_of_a_stream_is_never_taken_for_the_whole(provider: str, share: float) -> None:
    stream, end = {
        "openai": (CHAT_STREAM, b'"stop"'),
        "anthropic": (MESSAGE_STREAM, b'"end_turn"'),
        "responses": (RESPONSE_STREAM, b"}"),
    }[provider]
    data = written(TARGETS[provider][1])
    with pytest.raises(TargetError):
        stream.answer(data[: int(share * data.rindex(end))])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"type": "overloaded_error", "message": "busy"}, "service_unavailable"),
        ({"type": "rate_limit_error", "message": "busy"}, "rate_limited"),
        ({"type": "api_error", "message": "busy"}, "internal_error"),
        ({"type": "invalid_request_error", "message": "busy"}, "bad_request"),
        ({"code": 429, "message": "busy"}, "rate_limited"),
        ({"code": "503", "message": "busy"}, "service_unavailable"),
        ({"code": 500, "type": "server_error", "message": "busy"}, "internal_error"),
        ("busy", "internal_error"),
    ],
)
def test_an_error_within_a_stream_has_its_code(provider: str, error: Any, code: str) -> None:
    kind = "error" if provider == "anthropic" else ""
    events = [*TARGETS[provider][1][:3], (kind, {"type": "error", "error": error})]
    found = fault(provider, streams(written(events)))

    assert (found.code, found.http_status) == (code, 200)
    assert str(found) == "the endpoint answers with an error: busy"
    assert found.away == ("unavailable" if code == "service_unavailable" else None)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (hangs, "timeout", "no answer within 0.2 s"),
        (trickles, "timeout", "no answer within 0.2 s"),
        (sends(b"<h1>Welcome</h1>", kind="text/html"), "internal_error", "not JSON"),
        (sends(b"data: {\n\n"), "internal_error", "not JSON"),
        (sends(b'data: {"choices": "\xff"}\n\n'), "internal_error", "not UTF-8"),
        (sends(b"data: [DONE]\n\n"), "internal_error", "not JSON"),
        (says({"error": {"message": "slow"}}, 429, retry_after="7"), "rate_limited", "slow"),
    ],
)
def test_what_is_no_stream_has_its_code(
    provider: str, answer: Answer, code: str, said: str
) -> None:
    error = fault(provider, answer, timeout_s=0.2 if code == "timeout" else 20.0)

    assert error.code == code
    assert said in str(error)
    assert error.retry_after_s == (7 if code == "rate_limited" else None)


def test_a_stream_without_end_has_its_cap() -> None:
    assert str(fault("openai", floods)) == "the answer is larger than 64 MB"


@given(st.sampled_from(sorted(TARGETS)), st.lists(st.integers(1, 900), max_size=4))
@settings(max_examples=examples(10), deadline=None)
def test_however_it_arrives_the_answer_is_the_same(provider: str, cuts: list[int]) -> None:
    make, events = TARGETS[provider]
    data = written(events)
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(data)
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]

    async def main() -> Trace:
        async with scripted([head, *filter(None, pieces)]) as server:
            return await ask_once(make(f"{server.url}/v1"))

    trace = asyncio.run(main())
    assert (trace.response, trace.usage.output_tokens) == ("At nine.", 3)
    assert trace.first_token_ms is not None


def test_a_call_that_is_given_up_closes_its_connection() -> None:
    async def main() -> int:
        async with scripted([b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"]) as server:
            asked = openai(f"{server.url}/v1")
            call = asyncio.create_task(ask_once(asked))
            while not server.requests:
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        return server.connections

    assert asyncio.run(main()) == 1
