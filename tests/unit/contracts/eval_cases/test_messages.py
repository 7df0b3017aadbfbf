"""Messages in all their forms, and the files they show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Content, FileBlock, Message, OtherBlock, TextBlock, ToolCall
from strategies.eval_folder import EvalFolder, row, without

CALL: JsonObject = {"tool": "search", "input": {"q": 1}}


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"role": "system", "content": ""}, Message(role="system", content="")),
        ({"role": "user", "content": "Hi"}, Message(role="user", content="Hi")),
        ({"role": "tool", "content": {"a": [1]}}, Message(role="tool", content={"a": [1]})),
        ({"role": "user", "content": []}, Message(role="user", content=())),
        (
            {"role": "user", "content": ["a", {"type": "text", "value": "b", "lang": "en"}]},
            Message(
                role="user",
                content=(TextBlock(text="a"), TextBlock(text="b", extra={"lang": "en"})),
            ),
        ),
        (
            {"role": "user", "content": [{"type": "chart", "url": "x"}]},
            Message(role="user", content=(OtherBlock(data={"type": "chart", "url": "x"}),)),
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            Message(role="assistant", tool_calls=(ToolCall(tool="search", input={"q": 1}),)),
        ),
        (
            {"role": "assistant", "content": "Hi", "name": None, "tool_calls": None},
            Message(role="assistant", content="Hi"),
        ),
        (
            {"role": "user", "name": "Ann", "content": "Hi", "lang": "en"},
            Message(role="user", name="Ann", content="Hi", extra={"lang": "en"}),
        ),
    ],
)
def test_a_message_has_a_role_and_content_or_tool_calls(
    folder: EvalFolder, written: JsonObject, read: Message
) -> None:
    """EC-49"""
    assert folder.case(row(input_messages=[written])).input_messages == (read,)


BROKEN: list[tuple[JsonValue, str, str]] = [
    ("Hi", "invalid_field_type", ""),
    ({"content": "Hi"}, "missing_required_field", "role"),
    ({"role": "bot", "content": "Hi"}, "invalid_enum_value", "role"),
    ({"role": "user"}, "missing_required_field", "content"),
    ({"role": "user", "content": None}, "missing_required_field", "content"),
    ({"role": "assistant", "tool_calls": []}, "missing_required_field", "content"),
    ({"role": "assistant", "tool_calls": None}, "missing_required_field", "content"),
    ({"role": "user", "content": 5}, "invalid_field_type", "content"),
    ({"role": "user", "content": [5]}, "invalid_field_type", "content[0]"),
    ({"role": "user", "content": [{}]}, "missing_required_field", "content[0].type"),
    (
        {"role": "user", "content": [{"type": "text"}]},
        "missing_required_field",
        "content[0].value",
    ),
    (
        {"role": "user", "content": [{"type": "file", "value": 5}]},
        "invalid_field_type",
        "content[0].value",
    ),
    ({"role": "user", "content": "Hi", "name": 5}, "invalid_field_type", "name"),
    (
        {"role": "assistant", "tool_calls": [{}]},
        "missing_required_field",
        "tool_calls[0].tool",
    ),
    ({"role": "assistant", "tool_calls": CALL}, "invalid_field_type", "tool_calls"),
]


@pytest.mark.parametrize(("written", "code", "path"), BROKEN)
@pytest.mark.parametrize("field", ["input_messages", "input", "expected_messages"])
def test_a_broken_message_makes_its_case_invalid(
    folder: EvalFolder, field: str, written: JsonValue, code: str, path: str
) -> None:
    """EC-49"""
    rest = without("input_messages") if field == "input" else row()
    found = folder.row_findings({**rest, field: [written]})

    assert found == [(code, f"{field}[0].{path}".rstrip("."))]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Hi", Message(role="user", content="Hi")),
        ({"amount": 5}, Message(role="user", content={"amount": 5})),
        ({"role": "system", "content": "Hi"}, Message(role="system", content="Hi")),
        ([{"role": "user", "content": "Hi"}], Message(role="user", content="Hi")),
    ],
)
def test_input_may_be_a_text_an_object_a_message_or_messages(
    folder: EvalFolder, value: JsonValue, message: Message
) -> None:
    """EC-50, EC-51"""
    assert folder.case(without("input_messages", input=value)).input_messages == (message,)


DATA: JsonValue = [{"type": "invoice", "total": 5}, 7]


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("Yes", "Yes"),
        ("", ""),
        ({"amount": 5}, {"amount": 5}),
        ({"role": "assistant", "content": "Yes"}, "Yes"),
        ([{"role": "assistant", "content": "Yes"}], "Yes"),
        (["a", "b"], (TextBlock(text="a"), TextBlock(text="b"))),
        (
            [{"type": "text", "value": "a"}, {"type": "chart", "url": "x"}],
            (TextBlock(text="a"), OtherBlock(data={"type": "chart", "url": "x"})),
        ),
        (DATA, json.dumps(DATA, indent=2)),
        ([1, "ü"], '[\n  1,\n  "ü"\n]'),
    ],
)
def test_an_expected_output_may_be_anything(
    folder: EvalFolder, value: JsonValue, content: Content
) -> None:
    """EC-50, EC-51"""
    case = folder.case(row(expected_output=value))

    assert case.expected_messages == (Message(role="assistant", content=content),)


@pytest.mark.parametrize("field", ["expected_messages", "expected_output"])
def test_an_empty_list_is_no_reference(folder: EvalFolder, field: str) -> None:
    """EC-51"""
    nothing: JsonObject = {field: []}

    assert folder.case(row(**nothing)).expected_messages == ()


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"role": "bot", "content": "a"}, [("invalid_enum_value", "expected_output.role")]),
        (
            [{"role": "assistant", "content": "a"}, {"role": "assistant"}],
            [("missing_required_field", "expected_output[1].content")],
        ),
        (["a", 5], [("invalid_field_type", "expected_output[1]")]),
        ([{"type": "text"}], [("missing_required_field", "expected_output[0].value")]),
        (
            [{"type": "file", "value": "no.md"}],
            [("missing_file", "expected_output[0].value")],
        ),
        (
            ["a", {"type": "text", "value": "b", "valeu": 1}],
            [("unknown_field", "expected_output[1].valeu")],
        ),
        (5, [("invalid_field_type", "expected_output")]),
    ],
)
def test_a_broken_expected_output_is_found_where_it_stands(
    folder: EvalFolder, value: JsonValue, found: list[tuple[str, str]]
) -> None:
    """EC-51"""
    assert folder.row_findings(row(expected_output=value)) == found


def test_a_broken_message_under_input_is_found(folder: EvalFolder) -> None:
    """EC-51"""
    found = folder.row_findings(without("input_messages", input={"role": "user"}))

    assert found == [("missing_required_field", "input.content")]


@pytest.mark.parametrize("field", ["input_messages", "expected_messages"])
def test_a_text_is_no_list_of_messages(folder: EvalFolder, field: str) -> None:
    """EC-50"""
    assert folder.row_findings(row(**{field: "Hi"})) == [("invalid_field_type", field)]


def test_input_files_stand_before_the_text(folder: EvalFolder) -> None:
    """EC-52"""
    path = folder.write("notes.md", "Notes\n")
    case = folder.case(without("input_messages", input="Sum up", input_files=["notes.md"]))

    shown = FileBlock(value="notes.md", path=str(path), text="Notes\n")
    assert case.input_messages == (
        Message(role="user", content=(shown, TextBlock(text="Sum up"))),
    )
    assert "input_files" not in case.extra


def test_input_files_need_a_text(folder: EvalFolder) -> None:
    """EC-52"""
    folder.write("notes.md", "Notes\n")

    found = folder.row_findings(row(input_files=["notes.md"]))
    assert found == [("invalid_field_type", "input_files")]
    missing = folder.row_findings(without("input_messages", input="a", input_files=["no.md"]))
    assert missing == [("missing_file", "input_files[0]")]
