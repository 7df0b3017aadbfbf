"""What templates may name, from cases of every kind and from traces of every length."""

from __future__ import annotations

import pytest

from steelyard.judging.material import material, quotable, transcript
from steelyard.model.case import Case, Criterion
from steelyard.model.message import FileBlock, Message, TextBlock, ToolCall
from steelyard.model.trace import Trace

ASKED = Message(role="user", content="What is open?")
PLAIN = Trace(messages=(Message(role="assistant", content="The library."),))
CALL = ToolCall(tool="search", input={"q": "open"}, output="library")
AGENT = Trace(
    messages=(
        Message(role="assistant", content="I look it up.", tool_calls=(CALL,)),
        Message(role="tool", content="library"),
        Message(role="assistant", content="The library."),
    )
)


def case(**more: object) -> Case:
    return Case(id="q1", **{"input_messages": (ASKED,), **more})  # pyright: ignore[reportArgumentType]


def test_a_question_and_its_answer_are_plain_texts() -> None:
    filled = material(PLAIN, case(context="On Sunday."))

    assert filled["input"] == "What is open?"
    assert filled["output"] == "The library."
    assert filled["context"] == "On Sunday."


def test_a_conversation_says_who_speaks() -> None:
    messages = (Message(role="system", content="Be brief."), ASKED)

    filled = material(PLAIN, case(input_messages=messages))

    assert filled["input"] == "@[System]:\nBe brief.\n\n@[User]:\nWhat is open?"


def test_what_an_agent_did_is_all_of_its_output() -> None:
    assert material(AGENT, case())["output"] == (
        '@[Assistant]:\nI look it up.\n[tool call] search {"q": "open"}\n[tool result] library'
        "\n\n@[Tool]:\nlibrary\n\n@[Assistant]:\nThe library."
    )


def test_a_turn_is_one_message_of_the_assistant() -> None:
    assert material(AGENT, case(), turn=2)["output"] == "The library."
    assert str(material(AGENT, case(), turn=1)["output"]).startswith("I look it up.\n[tool call]")
    assert quotable(AGENT, turn=2) == "The library."


def test_evidence_may_come_from_anything_in_the_trace() -> None:
    assert "[tool result] library" in quotable(AGENT)
    assert "I look it up." in quotable(AGENT)


def test_no_message_is_no_output() -> None:
    assert material(Trace(), case())["output"] == ""
    assert quotable(Trace()) == ""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ""),
        ({"reference_answers": ("A",)}, "A"),
        ({"reference_answers": ("A", "B")}, "A\n\nor:\n\nB"),
        ({"expected_messages": (Message(role="assistant", content="A"),)}, "A"),
        ({"expected": {"format": "json"}}, {"format": "json"}),
        ({"expected": {"format": "json"}, "reference_answers": ("A",)}, "A"),
    ],
)
def test_what_is_expected(more: dict[str, object], expected: object) -> None:
    assert material(PLAIN, case(**more))["expected"] == expected


def test_criteria_are_what_the_case_says_of_a_good_answer() -> None:
    listed = (
        Criterion(id="a", title="Polite", description="No slang."),
        Criterion(id="b", title="B"),
    )

    filled = material(PLAIN, case(expected_outcome="It helps.", criteria=listed))

    assert filled["criteria"] == "It helps.\n- Polite No slang.\n- B"


def test_eval_cases_have_names_of_their_own_for_the_same() -> None:
    filled = material(PLAIN, case(reference_answers=("A", "B"), expected_outcome="It helps."))

    assert filled["candidate_answer"] == filled["output"]
    assert filled["reference_answer"] == "A\n\nB"
    assert filled["expected_outcome"] == "It helps."
    assert filled["input_messages"] == "@[User]:\nWhat is open?"
    assert filled["output_messages"] == "@[Assistant]:\nThe library."
    assert filled["expected_messages"] == ""


def test_files_are_shown_with_the_text_that_names_them() -> None:
    blocks = (TextBlock(text="See:"), FileBlock(value="a.md", path="a.md", text="# A"))

    assert transcript((Message(role="user", content=blocks),)) == "@[User]:\nSee:\n# A"
