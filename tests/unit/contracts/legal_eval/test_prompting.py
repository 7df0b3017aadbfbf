"""What the target is asked, under each policy."""

from __future__ import annotations

import pytest

from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.prompting import choice_lines, policy_messages
from steelyard.model.case import AnswerChoice, Attachment, Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message
from steelyard.model.policy import Policy
from strategies.legal_eval import case_of, row

POLICIES = built_in_policies()
EVERYTHING = row(
    "mcq",
    context="The law of tenancy.",
    messages=[
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Yes?"},
    ],
    attachments=[
        {"path": "documents/lease.pdf"},
        {"path": "documents/photo.png", "title": "A photo"},
    ],
)


def asked(value: JsonObject) -> list[tuple[str, str]]:
    case = case_of(value)
    return [(message.role, message.text) for message in policy_messages(case, POLICIES.of(case))]


@pytest.mark.parametrize("name", POLICIES.ids)
def test_everything_reaches_the_target_under_every_policy(name: str) -> None:
    """LE-33, LE-35"""
    said = asked({**EVERYTHING, "metadata": {"policy_id": name}})
    last = said[-1][1]

    assert [turn for turn in said if turn[1] in {"Be brief.", "Hello", "Yes?"}] == [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("assistant", "Yes?"),
    ]
    assert said[-1][0] == "user"
    assert "The law of tenancy." in last
    assert "When must rent be paid?" in last
    assert "A. Yes\nB. No" in last
    assert '<file path="documents/lease.pdf">\nThe rent is due.\n</file>' in last
    assert "A photo (not shown)" in last


@pytest.mark.parametrize("name", [name for name in POLICIES.ids if name != "apexv1_extended_v1"])
def test_only_one_policy_has_a_system_message(name: str) -> None:
    assert [role for role, _ in asked(row(metadata={"policy_id": name}))] == ["user"]


def test_the_default_puts_each_part_under_its_heading() -> None:
    """LE-33"""
    notes: list[JsonValue] = [{"path": "documents/notes.md"}]
    ((role, text),) = asked({**EVERYTHING, "messages": [], "attachments": notes})

    assert role == "user"
    assert text == (
        "Context:\nThe law of tenancy.\n\n"
        'Documents:\n<file path="documents/notes.md">\nNotes\n</file>\n\n'
        "When must rent be paid?\n\n"
        "Choices:\nA. Yes\nB. No\n\nReply with one JSON object and nothing else: "
        '{"answer": "<A, B>", "reasoning": "<in short>"}'
    )


def test_what_a_row_does_not_have_is_left_out() -> None:
    """LE-33"""
    assert asked(row()) == [("user", "When must rent be paid?")]
    assert asked(row(context=" \n")) == [("user", "When must rent be paid?")]


def test_prbench_asks_the_conversation_as_it_is() -> None:
    turns = [
        ("user", "Hello"),
        ("assistant", "Yes?"),
        ("user", "Reference text.\n\nWhen must rent be paid?"),
    ]
    messages: list[JsonValue] = [{"role": role, "content": text} for role, text in turns]

    assert asked(row(messages=messages, metadata={"policy_id": "prbench_v1"})) == turns


@pytest.mark.parametrize(
    ("metadata", "course"),
    [
        ({}, "Swiss Law"),
        ({"course": "Vertragsrecht"}, "Vertragsrecht"),
        ({"course": None}, "Swiss Law"),
        ({"course": 5}, "5"),
        ({"course": ["a", "ä"]}, '["a", "ä"]'),
    ],
)
def test_lexam_names_the_course(metadata: JsonObject, course: str) -> None:
    ((_, text),) = asked(row(metadata={"policy_id": "lexam_oq_v1", **metadata}))

    assert text.startswith(f"This is an exam question of the course {course}. ")
    assert text.endswith("\n\nQuestion:\nWhen must rent be paid?")


@pytest.mark.parametrize("name", ["lexam_mcq_v1", "includebase_default_v1", "lar_echr_mcq_v1"])
def test_where_the_answer_is_json_its_form_is_shown(name: str) -> None:
    ((_, text),) = asked(row("mcq", metadata={"policy_id": name}))

    assert text.endswith('{"answer": "<A, B>", "reasoning": "<in short>"}')


def test_apex_has_a_system_message_with_the_field() -> None:
    (system, user) = asked(row(metadata={"policy_id": "apexv1_extended_v1", "domain": "Tax"}))

    assert system[0] == "system"
    assert "in the field of Tax." in system[1]
    assert user[1] == "Field: Tax\n\nTask:\nWhen must rent be paid?"


def test_what_looks_like_a_placeholder_in_a_row_stays_as_it_is() -> None:
    """LE-33"""
    value = row(
        "mcq",
        prompt="{{context}} {{choices}}",
        context="{{prompt}}",
        metadata={"policy_id": "prbench_v1"},
    )

    assert asked(value) == [("user", "{{prompt}}\n\n{{context}} {{choices}}\n\nA. Yes\nB. No")]


def test_the_other_fields_of_the_last_message_stay() -> None:
    last = Message(role="user", content="x", extra={"n": 1})
    (written,) = policy_messages(Case(id="a", input_messages=(last,)), POLICIES.of(Case(id="a")))

    assert written == last


def test_a_case_without_a_question_is_asked_what_it_has() -> None:
    case = Case(
        id="a",
        context="Text",
        input_messages=(Message(role="assistant", content="Yes?"),),
        attachments=(Attachment(path="a.md", text="b"),),
    )
    said = policy_messages(case, POLICIES.of(case))

    assert [(message.role, message.text) for message in said] == [
        ("assistant", "Yes?"),
        ("user", 'Context:\nText\n\nDocuments:\n<file path="a.md">\nb\n</file>'),
    ]


def test_a_part_without_a_name_is_always_shown() -> None:
    policy = Policy(id="p", description="d", user=("Be brief.", "{{ prompt }}"), system=("Hi",))
    case = Case(id="a", input_messages=(Message(role="user", content="x"),))

    assert [message.text for message in policy_messages(case, policy)] == ["Hi", "Be brief.\n\nx"]


def test_choices_are_shown_one_a_line() -> None:
    """LE-35"""
    choices = (AnswerChoice("A", "Yes"), AnswerChoice("no", "No"))

    assert choice_lines(choices) == "A. Yes\nno. No"
