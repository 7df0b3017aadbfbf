"""What a target is asked: conversation, context, files and guidelines."""

from __future__ import annotations

import pytest

from steelyard.engine.prompts import build_prompt
from steelyard.model.case import Case
from steelyard.model.message import (
    Content,
    FileBlock,
    Message,
    OtherBlock,
    Role,
    TextBlock,
    ToolCall,
)
from steelyard.ports import Prompt

HOUSE = FileBlock(value="house.md", path="/p/rules/house.md", text="\nBe brief.\n", guideline=True)
STYLE = FileBlock(value="style.md", path="/p/style.md", text="No slang.", guideline=True)
CODE = FileBlock(value="src/a.py", path="/p/src/a.py", text="\nprint(1)\n")
GUIDELINES = '[[ ## guidelines ## ]]\n\n<file path="house.md">\nBe brief.\n</file>'
SHOWN = '<file path="src/a.py">\nprint(1)\n</file>'


def case(*said: tuple[Role, Content], context: str = "") -> Case:
    messages = tuple(Message(role=role, content=content) for role, content in said)
    return Case(id="c", input_messages=messages, context=context)


def test_one_message_is_asked_as_it_is() -> None:
    prompt = build_prompt(case(("user", "  What is 2 + 2?\n")))

    assert prompt.text == "What is 2 + 2?"
    assert prompt.messages == (("user", "What is 2 + 2?"),)


@pytest.mark.parametrize("role", ["user", "system", "assistant"])
def test_whoever_speaks_alone_needs_no_marker(role: Role) -> None:
    assert build_prompt(case((role, "Hello."))).text == "Hello."


def test_role_markers_tell_several_speakers_apart() -> None:
    asked = case(
        ("system", "Be kind."), ("user", "Hi!"), ("assistant", "Hello."), ("user", "And?")
    )

    assert build_prompt(asked).text == (
        "@[System]:\nBe kind.\n\n@[User]:\nHi!\n\n@[Assistant]:\nHello.\n\n@[User]:\nAnd?"
    )
    assert build_prompt(asked).messages == (
        ("system", "Be kind."),
        ("user", "Hi!"),
        ("assistant", "Hello."),
        ("user", "And?"),
    )


@pytest.mark.parametrize("content", [None, "", "  \n", (), (TextBlock(text=" "),)])
def test_a_message_that_says_nothing_is_left_out(content: Content) -> None:
    prompt = build_prompt(case(("system", content), ("user", "Hi!")))

    assert (prompt.text, prompt.messages) == ("Hi!", (("user", "Hi!"),))


def test_a_case_that_says_nothing_gives_an_empty_prompt() -> None:
    assert build_prompt(Case(id="c")) == Prompt((), "")


def test_the_context_comes_first_as_the_systems() -> None:
    prompt = build_prompt(case(("user", "Who?"), context="Ada wrote it.\n"))

    assert prompt.messages == (("system", "Ada wrote it."), ("user", "Who?"))
    assert prompt.text == "@[System]:\nAda wrote it.\n\n@[User]:\nWho?"


def test_leading_system_messages_become_one_and_later_ones_stay() -> None:
    asked = case(("system", "One."), ("user", "Hi!"), ("system", "Two."), context="Zero.")

    assert build_prompt(asked).messages == (
        ("system", "Zero.\n\nOne."),
        ("user", "Hi!"),
        ("system", "Two."),
    )


def test_a_file_stands_where_the_message_shows_it() -> None:
    content = (TextBlock(text="Before."), CODE, TextBlock(text="After."))
    prompt = build_prompt(case(("user", content)))

    assert prompt.text == f"Before.\n\n{SHOWN}\n\nAfter."
    assert prompt.messages == (("user", f"Before.\n\n{SHOWN}\n\nAfter."),)


def test_guidelines_come_first_and_once_and_leave_their_message() -> None:
    asked = case(
        ("user", (HOUSE, TextBlock(text="Hi!"))), ("user", (HOUSE, TextBlock(text="So?")))
    )

    assert build_prompt(asked).text == f"{GUIDELINES}\n\n@[User]:\nHi!\n\n@[User]:\nSo?"
    assert build_prompt(asked).messages == (
        ("system", GUIDELINES),
        ("user", "Hi!"),
        ("user", "So?"),
    )


def test_guidelines_join_the_leading_system_message() -> None:
    asked = case(("system", "Be kind."), ("user", (HOUSE, TextBlock(text="Hi!"))))

    assert build_prompt(asked).messages[0] == ("system", f"{GUIDELINES}\n\nBe kind.")


def test_several_guidelines_stand_in_one_block_in_the_order_of_their_first_use() -> None:
    asked = case(("user", (HOUSE, STYLE, HOUSE, TextBlock(text="Hi!"))))

    assert build_prompt(asked).text == (
        f'{GUIDELINES}\n\n<file path="style.md">\nNo slang.\n</file>\n\nHi!'
    )


def test_guidelines_alone_are_still_a_prompt() -> None:
    assert build_prompt(case(("user", (HOUSE,)))).text == GUIDELINES


def test_an_object_is_shown_as_json() -> None:
    prompt = build_prompt(case(("user", {"city": "Zürich", "days": [1, 2]})))

    assert prompt.text == '{\n  "city": "Zürich",\n  "days": [\n    1,\n    2\n  ]\n}'


def test_a_block_of_another_type_says_nothing() -> None:
    image = OtherBlock(data={"type": "image", "value": "cat.png"})

    assert (
        build_prompt(case(("user", (image, TextBlock(text="What is it?"))))).text == "What is it?"
    )


def test_what_a_tool_said_is_told_as_the_assistants_because_endpoints_want_the_call() -> None:
    asked = case(("user", "Weather?"), ("tool", {"sky": "blue"}), ("user", "So?"))

    assert build_prompt(asked).messages == (
        ("user", "Weather?"),
        ("assistant", '@[Tool]:\n{\n  "sky": "blue"\n}'),
        ("user", "So?"),
    )
    assert '@[Tool]:\n{\n  "sky": "blue"\n}' in build_prompt(asked).text


def test_a_message_of_tool_calls_alone_says_nothing() -> None:
    calls = Message(role="assistant", tool_calls=(ToolCall(tool="search", input={"q": "x"}),))
    asked = Case(id="c", input_messages=(Message(role="user", content="Hi!"), calls))

    assert build_prompt(asked).messages == (("user", "Hi!"),)
