from __future__ import annotations

import pytest

from steelyard.model.message import Message, TextBlock, ToolCall
from steelyard.model.trace import Trace, Usage

CALL = Message(role="assistant", tool_calls=(ToolCall(tool="clock"),))


@pytest.mark.parametrize(
    ("messages", "response"),
    [
        ((), ""),
        ((Message(role="user", content="hi"),), ""),
        (
            (Message(role="assistant", content="one"), Message(role="assistant", content="two")),
            "two",
        ),
        ((Message(role="assistant", content="one"), Message(role="user", content="why?")), "one"),
        ((Message(role="assistant", content="one"), CALL), "one"),
        (
            (
                Message(role="assistant", content="let me see"),
                Message(role="tool", content="9"),
                Message(role="assistant", content=(TextBlock(text="At"), TextBlock(text="nine."))),
            ),
            "At\nnine.",
        ),
        (
            (Message(role="assistant", content="one"), Message(role="assistant", content="")),
            "",
        ),
        ((CALL,), ""),
    ],
)
def test_the_response_is_the_text_of_the_last_assistant_message_with_content(
    messages: tuple[Message, ...], response: str
) -> None:
    assert Trace(messages=messages).response == response


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (Usage(input_tokens=3, output_tokens=4), 7),
        (Usage(input_tokens=0, output_tokens=0), 0),
        (Usage(input_tokens=3), None),
        (Usage(output_tokens=4), None),
        (Usage(), None),
    ],
)
def test_the_total_is_known_only_when_both_counts_are(usage: Usage, total: int | None) -> None:
    assert usage.total_tokens == total
