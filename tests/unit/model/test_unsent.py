"""What a target cannot be sent, and conversations without it."""

from __future__ import annotations

from steelyard.model.message import ImageBlock, Message, OtherBlock, TextBlock, ToolCall
from steelyard.model.unsent import EVERYTHING, MODEL_CARRIES, NOTHING, unsent, without

IMAGE = ImageBlock(data={"type": "image"}, media_type="image/png", content=b"x")
CALLED = Message(role="assistant", tool_calls=(ToolCall(tool="a"), ToolCall(tool="b", output=1)))
ANSWERED = Message(role="tool", content="one", name="a")
ASKED = Message(role="user", content=(TextBlock(text="this?"), IMAGE))


def test_a_target_of_texts_is_sent_no_image_and_no_tool_history() -> None:
    found = unsent((ASKED, CALLED, ANSWERED), NOTHING)

    assert [one.path for one in found] == [(0, "content", 1), (1, "tool_calls"), (2,)]


def test_models_are_sent_both_and_some_functions_everything() -> None:
    other = Message(role="user", content=(OtherBlock(data={"type": "audio"}),))

    assert unsent((ASKED, CALLED, ANSWERED), MODEL_CARRIES) == []
    assert [one.what for one in unsent((other,), MODEL_CARRIES)] == ["a block of type 'audio'"]
    assert unsent((other,), frozenset((EVERYTHING,))) == []


def test_results_find_their_calls_by_id_by_name_or_by_order() -> None:
    calls = tuple(ToolCall(tool="a", id=name) for name in ("x", "y"))
    said = Message(role="assistant", tool_calls=calls)
    by_id = Message(role="tool", content="1", extra={"tool_call_id": "y"})
    wrong = Message(role="tool", content="1", extra={"tool_call_id": "z"})
    plain = Message(role="tool", content="2")

    assert unsent((said, by_id, plain), MODEL_CARRIES) == []
    assert [one.path for one in unsent((said, wrong, plain), MODEL_CARRIES)] == [
        (0, "tool_calls", 1),
        (1,),
    ]


def test_a_conversation_without_what_cannot_be_sent() -> None:
    messages = (ASKED, CALLED, ANSWERED)

    left = without(messages, unsent(messages, NOTHING))

    assert [message.text for message in left] == ["this?", ""]
    assert left[1].tool_calls == ()
