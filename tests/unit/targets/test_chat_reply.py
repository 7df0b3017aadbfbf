"""What functions return of chat clients becomes a trace."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.errors import TargetError
from steelyard.targets.callables import trace_of
from steelyard.targets.chat_reply import reply_of

CALL = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
MESSAGE: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
COMPLETION: dict[str, Any] = {
    "id": "x",
    "model": "m-1",
    "choices": [{"message": MESSAGE, "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}


class Dumped:
    """An object of a client."""

    def __init__(self, value: object) -> None:
        self._value = value

    def model_dump(self) -> object:
        return self._value


@pytest.mark.parametrize(
    "answer",
    [COMPLETION, Dumped(COMPLETION), MESSAGE, Dumped(MESSAGE), [MESSAGE], [Dumped(MESSAGE)]],
)
def test_a_completion_and_a_message_have_their_tool_calls(answer: object) -> None:
    trace = trace_of(reply_of(answer))

    assert [(one.id, one.tool, one.input) for one in trace.messages[0].tool_calls] == [
        ("c", "add", {"a": 1})
    ]


def test_a_completion_has_its_usage_and_model_and_no_latency() -> None:
    trace = trace_of(reply_of(Dumped(COMPLETION)))

    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (3, 2)
    assert (trace.model, trace.finish_reason, trace.latency_ms) == ("m-1", "tool_calls", None)


def test_the_result_of_a_tool_stands_with_its_call() -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": "5"}
    trace = trace_of({"messages": [MESSAGE, result, {"role": "assistant", "content": "Five."}]})

    assert len(trace.messages) == 2
    assert (trace.messages[0].tool_calls[0].output, trace.response) == ("5", "Five.")


def test_a_refusal_is_that_of_the_trace() -> None:
    trace = trace_of(reply_of({"role": "assistant", "content": None, "refusal": "I may not."}))

    assert trace.refusal == "I may not."


@pytest.mark.parametrize(
    "answer", [Dumped({"role": "assistant", "content": b"x"}), {"choices": []}]
)
def test_a_reply_that_is_no_trace_is_a_bad_response(answer: object) -> None:
    with pytest.raises(TargetError) as caught:
        trace_of(reply_of(answer))

    assert caught.value.code == "bad_response"
