"""Messages of a record as other tools know them."""

from __future__ import annotations

from fakes.predictions import prediction
from steelyard.usecases.results.exports.messages import (
    ChatMessage,
    ChatToolCall,
    chat_messages,
    text_arguments,
)

ASKED = {"messages": [{"role": "user", "content": "How much?"}], "sent": True}


def test_an_answer_without_a_trace_is_one_message() -> None:
    row = prediction(0, request=ASKED, trace=None, model_response="Nothing.")

    assert chat_messages(row) == [
        ChatMessage("user", "How much?"),
        ChatMessage("assistant", "Nothing."),
    ]


def test_calls_of_tools_have_ids_and_texts() -> None:
    call = {"tool": "fees", "input": {"days": 3}, "output": {"eur": 0}}
    said = [{"role": "assistant", "content": None, "tool_calls": [call, {"tool": "end"}]}]
    row = prediction(0, request=ASKED, trace={"messages": said})
    (*_, last) = chat_messages(row)

    first, second = last.calls
    assert first == ChatToolCall("call-0-0", "fees", {"days": 3}, '{"eur": 0}')
    assert text_arguments(first) == {"days": "3"}
    assert second == ChatToolCall("call-0-1", "end", {}, None)


def test_a_record_that_was_not_asked_has_no_messages() -> None:
    assert chat_messages(prediction(0, request=None, trace=None, model_response=None)) == []
