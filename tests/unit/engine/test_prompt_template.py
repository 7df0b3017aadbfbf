"""A target's own words around what a case asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.prompt_template import VARIABLES, PromptTemplate
from steelyard.engine.prompts import build_prompt
from steelyard.errors import TemplateError
from steelyard.model.case import AnswerChoice, Case
from steelyard.model.message import FileBlock, Message, TextBlock

CASE = Case(
    id="q1",
    dataset="desk",
    input_messages=(Message(role="user", content="When {{ id }}?"),),
    context="Nine to five.",
    tags=("hours", "short"),
    metadata={"topic": {"name": "time"}, "level": 2},
    choices=(AnswerChoice(id="A", text="nine"), AnswerChoice(id="B", text="ten")),
)


def asked(template: str, case: Case = CASE) -> tuple[tuple[str, str], ...]:
    made = PromptTemplate(template)
    assert made.problems == []
    return made.prompt(case).messages


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ input }}", "When {{ id }}?"),
        ("Think first.\n\n{{ input }}\n", "Think first.\n\nWhen {{ id }}?"),
        ("{{ input }} {{{ input }}} {{& input }}", "When {{ id }}? " * 2 + "When {{ id }}?"),
        ("{{ id }}/{{ dataset }}", "q1/desk"),
        ("{{ metadata.topic.name }} {{ metadata.level }}", "time 2"),
        ("{{ metadata.topic }}", '{"name": "time"}'),
        ("{{ tags }}", '["hours", "short"]'),
        ("{{#tags}}#{{ . }} {{/tags}}", "#hours #short"),
        ("{{ choices }}", "A. nine\nB. ten"),
        ("{{^task_type}}free{{/task_type}}{{ conversation_id }}", "free"),
        ("{{#metadata.missing}}never{{/metadata.missing}}x", "x"),
        ("no variable & <tags>", "no variable & <tags>"),
    ],
)
def test_the_template_becomes_the_user_message_and_is_filled_once(
    template: str, text: str
) -> None:
    assert asked(template)[-1] == ("user", text)


@pytest.mark.parametrize(
    ("template", "messages"),
    [
        ("{{ input }}", (("system", "Nine to five."), ("user", "When {{ id }}?"))),
        ("{{ context }} {{ input }}", (("user", "Nine to five. When {{ id }}?"),)),
        ("{{#context}}Look: {{ context }}{{/context}}", (("user", "Look: Nine to five."),)),
    ],
)
def test_a_context_that_the_template_shows_stands_there_alone(
    template: str, messages: tuple[tuple[str, str], ...]
) -> None:
    assert asked(template) == messages


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (("system", "user"), (("system", "system 0"), ("user", "<user 1>"))),
        (
            ("user", "assistant", "user"),
            (("user", "user 0"), ("assistant", "assistant 1"), ("user", "<user 2>")),
        ),
        (
            ("user", "assistant"),
            (("user", "user 0"), ("assistant", "assistant 1"), ("user", "<>")),
        ),
        ((), (("user", "<>"),)),
    ],
)
def test_what_was_said_before_stays_as_it_is(
    roles: tuple[str, ...], expected: tuple[tuple[str, str], ...]
) -> None:
    said = tuple(
        Message(role=role, content=f"{role} {place}")  # pyright: ignore[reportArgumentType]
        for place, role in enumerate(roles)
    )

    assert asked("<{{ input }}>", Case(id="c", input_messages=said)) == expected


def test_files_stand_in_the_question_and_guidelines_before_it() -> None:
    blocks = (
        TextBlock(text="Read"),
        FileBlock(value="a.md", path="/p/a.md", text="A"),
        FileBlock(value="g.md", path="/p/g.md", text="G", guideline=True),
    )
    case = Case(id="c", input_messages=(Message(role="user", content=blocks),))
    system, user = asked("<{{ input }}>", case)

    assert system == build_prompt(case).messages[0]
    assert user == ("user", '<Read\n\n<file path="a.md">\nA\n</file>>')


@pytest.mark.parametrize(
    "template", ["{{ metadata.missing }}", "{{ input.text }}", "{{ metadata.topic.name.x }}"]
)
def test_a_name_that_the_case_cannot_fill_is_an_error(template: str) -> None:
    assert PromptTemplate(template).problems == []
    with pytest.raises(TemplateError, match="which is not there"):
        PromptTemplate(template).prompt(CASE)


@pytest.mark.parametrize("name", ["expected", "expected_outcome", "output", "criteria", "answer"])
def test_nothing_of_what_the_case_expects_can_be_named(name: str) -> None:
    (problem,) = PromptTemplate(f"{{{{ {name} }}}}").problems

    assert problem.path == ("prompt",)
    assert f"unknown variable '{name}'" in problem.message


@given(st.text(), st.sampled_from(VARIABLES))
def test_whatever_a_case_says_changes_nothing_but_its_place(text: str, name: str) -> None:
    case = Case(
        id=text,
        dataset=text,
        conversation_id=text,
        context=text,
        task_type=text,
        tags=(text,),
        metadata={"x": text},
        input_messages=(Message(role="user", content=text),),
    )
    shown = {"metadata": "metadata.x", "tags": "#tags}}{{ . }}{{/tags"}.get(name, name)
    value = "" if name == "choices" else text.strip() if name == "input" else text
    (*_, (role, said)) = PromptTemplate(f"<{{{{{shown}}}}}>").prompt(case).messages

    assert (role, said) == ("user", f"<{value}>".encode("utf-8", "replace").decode())
