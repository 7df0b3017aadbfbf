"""Traces as pages show them."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from msgspec import structs

from fakes.predictions import prediction
from steelyard.model.json_value import JsonObject
from steelyard.reports.html.pages import environment
from steelyard.reports.record.trace_view import (
    PART,
    MessagePiece,
    TraceView,
    question_of,
    trace_view,
)

_PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


def view(
    messages: list[Any], request: list[Any] | None = None, part: int | None = None
) -> TraceView:
    """The view of a record with these messages."""
    row = structs.replace(
        prediction(0),
        trace={"messages": messages},
        request={"sent": True, "sha256": "", "messages": request or []},
    )
    return trace_view(row, part)


def test_what_was_asked_stands_before_the_answer_and_only_once() -> None:
    asked = [{"role": "user", "content": "Well?"}]
    answer = {"role": "assistant", "content": "Yes."}
    for messages in ([answer], [*asked, answer]):
        found = view(messages, asked)
        assert [(one.role, one.turn) for one in found.messages] == [
            ("user", None),
            ("assistant", 1),
        ]


def test_only_messages_of_the_assistant_in_the_trace_are_turns() -> None:
    said = zip(("assistant", "user", "assistant"), "bcd", strict=True)
    found = view(
        [{"role": role, "content": text} for role, text in said],
        [{"role": "assistant", "content": "shown before"}],
    )
    assert [one.turn for one in found.messages] == [None, 1, None, 2]
    assert (found.total, found.turns) == (4, 2)


def test_a_result_stands_with_its_call() -> None:
    call = {"id": "c1", "tool": "look", "input": {"q": "x"}, "duration_ms": 12}
    found = view(
        [
            {"role": "assistant", "tool_calls": [call, {"tool": "no_result"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "tool", "tool_call_id": "other", "content": "of nobody"},
        ]
    )
    first, second = found.messages[0].calls
    assert (first.result, first.has_result, first.duration_ms) == ("found", True, 12)
    assert not second.has_result
    assert [one.role for one in found.messages] == ["assistant", "tool"]
    assert found.calls == 2


def test_a_call_of_a_request_is_shown_as_one() -> None:
    block: JsonObject = {
        "type": "tool_call",
        "id": "c",
        "tool": "look",
        "input": {},
        "result": "r",
    }
    found = view([], [{"role": "assistant", "content": ["Wait.", block]}])
    assert found.messages[0].pieces == (MessagePiece(text="Wait."),)
    assert (found.messages[0].calls[0].tool, found.messages[0].calls[0].result) == ("look", "r")


def test_images_are_described_by_type_size_and_hash() -> None:
    digest = hashlib.sha256(_PNG).hexdigest()
    data = base64.b64encode(_PNG).decode()
    blocks = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        {"type": "image", "source": {"type": "base64", "data": data}},
        {"type": "image", "sha256": digest, "media_type": "image/png", "size": 28},
    ]
    found = view([{"role": "user", "content": blocks}]).messages[0].pieces
    assert {
        (one.image.media_type, one.image.size, one.image.sha256) for one in found if one.image
    } == {("image/png", 28, digest)}


@pytest.mark.parametrize(
    ("block", "is_hashed", "said"),
    [
        ({"sha256": "ab", "media_type": "image/png", "size": 28}, True, "by hash only"),
        ({"sha256": "ab", "url": "https://example.org/a.png"}, False, "pages load no images"),
    ],
)
def test_an_image_that_is_not_shown_says_why(
    block: dict[str, Any], is_hashed: bool, said: str
) -> None:
    found = view([{"role": "user", "content": [{"type": "image", **block}]}])
    source = '{% from "parts/trace.html" import trace %}{{ trace(view) }}'

    assert found.has_hashed_images is is_hashed
    assert said in environment().from_string(source).render(view=found)


def test_images_elsewhere_are_named_and_broken_ones_say_so() -> None:
    blocks = [
        {"type": "image_url", "image_url": "https://example.org/a.png"},
        {"type": "image", "value": "data:image/png;base64,***"},
        {"type": "image"},
    ]
    places = [
        one.image.place
        for one in view([{"role": "user", "content": blocks}]).messages[0].pieces
        if one.image
    ]
    assert places[0] == "https://example.org/a.png"
    assert places[1].startswith("not readable")
    assert places[2] == ""


def test_odd_traces_do_not_break_a_page() -> None:
    odd: list[Any] = [
        "text",
        {"role": 3, "content": 4},
        {"role": "assistant", "content": None, "tool_calls": [{"tool": 1}, "x"]},
        {"content": [1, None, {"type": 5}]},
        {"role": "<b>", "content": {"a": 1}},
    ]
    pages = environment()
    html = pages.from_string('{% from "parts/trace.html" import trace %}{{ trace(view) }}').render(
        view=view(odd)
    )
    assert html.count("<li ") == 4
    assert "<b><b>" not in html
    assert "&lt;b&gt;" in html


def test_a_long_trace_comes_in_parts() -> None:
    messages = [{"role": "assistant", "content": str(n)} for n in range(2 * PART + 1)]
    found = view(messages, part=2)
    assert (found.first, found.last, found.parts, found.total) == (
        PART + 1,
        2 * PART,
        3,
        2 * PART + 1,
    )
    assert found.messages[0].turn == PART + 1
    assert view(messages, part=99).part == 3
    assert [found.part_of(turn) for turn in (1, PART, PART + 1, 2 * PART + 1, 9999)] == [
        1,
        1,
        2,
        3,
        1,
    ]
    assert view(messages).part == 1


def test_a_trace_that_was_redacted_as_a_whole_shows_nothing() -> None:
    row = structs.replace(prediction(0), trace={"messages": "[redacted:trace]"}, request=None)
    assert trace_view(row).messages == ()
    assert question_of(row) == ()


def test_the_question_is_the_last_thing_the_user_asked() -> None:
    row = structs.replace(
        prediction(0),
        request={
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "first"},
                {"role": "assistant", "content": "well"},
                {"role": "user", "content": "second"},
            ]
        },
    )
    assert question_of(row) == (MessagePiece(text="second"),)
