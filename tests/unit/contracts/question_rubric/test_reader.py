"""Question rubrics: what is read, and what is wrong with them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given

from steelyard.contracts.question_rubric.reader import read_question_rubric
from steelyard.contracts.schemas import load_schema
from steelyard.formats.schema import Schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import (
    Option,
    Question,
    QuestionRubric,
    Scale,
)
from steelyard.model.question_types import QUESTION_TYPES
from strategies.question_rubrics import (
    SELECT_TYPES,
    json_values,
    problems,
    question,
    read,
    rubric,
    sound,
    spoilt_rubrics,
)

CORPUS = Path(__file__).parents[3] / "corpus" / "question_rubric"
PAGE = Path(__file__).parents[4] / "docs" / "contracts" / "question_rubric.md"
SCHEMA = Schema(load_schema("question_rubric"))
IDLE = [
    (kind, field)
    for kind in QUESTION_TYPES
    for field in ("scale", "options")
    if field not in question(kind)
]
"""Fields that have no effect on a question of that type."""


def only(value: JsonValue) -> Question:
    (one,) = sound(value).questions
    return one


def options(*values: str) -> tuple[Option, ...]:
    return tuple(Option(value=value, label=value.capitalize()) for value in values)


def test_the_full_example_of_the_contract_is_read() -> None:
    """QR-01, QR-05"""
    text = (CORPUS / "valid" / "agent-quality-v2.json").read_text(encoding="utf-8")

    assert sound(json.loads(text)) == QuestionRubric(
        name="Agent Response Quality v2",
        version="agent-quality-v2",
        status="published",
        scale=Scale(min=0, max=5),
        guidance=("5 = fully correct.", "0-2 = fails the task."),
        questions=(
            Question(
                key="correctness",
                label="Correctness",
                type="score",
                required=True,
                guidance="5 = fully correct with evidence.",
                answered_by_auto=True,
                scale=Scale(min=0, max=5),
            ),
            Question(
                key="is_relevant",
                label="Is the answer relevant?",
                type="yes_no",
                answered_by_auto=True,
            ),
            Question(
                key="failure_type",
                label="Failure type",
                type="single_select",
                answered_by_auto=True,
                options=(
                    Option(value="none", label="None"),
                    Option(value="incorrect_answer", label="Incorrect answer"),
                    Option(value="tool_error", label="Tool error"),
                ),
            ),
            Question(
                key="turn_verdict",
                label="Turn verdict",
                type="button_group",
                scope="turn",
                answered_by_auto=True,
                options=options("pass", "fail"),
            ),
            Question(
                key="issue_tags",
                label="Issue tags",
                type="multi_select",
                scope="turn",
                answered_by_auto=False,
                options=(
                    Option(value="ambiguous", label="Ambiguous"),
                    Option(value="bad_data", label="Bad data"),
                ),
            ),
            Question(
                key="comment",
                label="Comment",
                type="comment",
                scope="turn",
                answered_by_auto=False,
            ),
        ),
    )


def test_the_example_of_the_documentation_is_read() -> None:
    example = re.findall("```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]

    assert {one.type for one in sound(json.loads(example)).questions} == set(QUESTION_TYPES)


def test_what_is_left_out_has_its_default() -> None:
    """QR-03, QR-06"""
    made = sound(rubric())

    assert (made.status, made.scale, made.guidance, made.extra) == ("draft", None, (), {})
    assert made.questions == (
        Question(
            key="q",
            label="Is it good?",
            type="yes_no",
            scope="trace",
            required=False,
            guidance=None,
            answered_by_auto=True,
        ),
    )


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_every_type_is_read_with_what_it_takes(kind: str) -> None:
    """QR-05, QR-10"""
    made = only(rubric(question(kind, scope="turn", required=True, guidance="Look.")))

    assert (made.type, made.scope, made.required, made.guidance) == (kind, "turn", True, "Look.")
    assert made.answered_by_auto is (kind != "comment")
    assert (made.scale is not None) is (kind == "score")
    assert bool(made.options) is (kind in SELECT_TYPES)


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_judges_can_be_kept_from_any_question(kind: str) -> None:
    """QR-10"""
    assert only(rubric(question(kind, answeredByAuto=False))).answered_by_auto is False


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_judges_can_be_let_in_everywhere_but_at_a_comment(kind: str) -> None:
    """QR-10"""
    found = problems(rubric(question(kind, answeredByAuto=True)))

    is_comment = kind == "comment"
    wrong = [("invalid_enum_value", "questions[0].answeredByAuto")]
    assert found == (wrong if is_comment else [])


@pytest.mark.parametrize("status", ["draft", "published", "archived"])
def test_a_status_is_kept(status: str) -> None:
    """QR-03"""
    assert sound(rubric(status=status)).status == status


@pytest.mark.parametrize(
    "version",
    ["a", "7", "agent-quality-v2", "2026-11", "a-b-c-d", "v2", "a" * 128, "0-0"],
)
def test_a_slug_is_a_version(version: str) -> None:
    """QR-02"""
    assert sound(rubric(version=version)).version == version


@pytest.mark.parametrize(
    ("version", "meant"),
    [
        ("Agent Quality v2", "agent-quality-v2"),
        ("agent_quality", "agent-quality"),
        ("agent--quality", "agent-quality"),
        ("-agent", "agent"),
        ("agent-", "agent"),
        ("v1.2", "v1-2"),
        ("agent\n", "agent"),
        ("Qualité", "qualite"),
        ("٧", "agent-quality-v2"),
        ("ⅷ", "viii"),
        ("", "agent-quality-v2"),
        ("-", "agent-quality-v2"),
        ("качество", "agent-quality-v2"),
        (2, "agent-quality-v2"),
        (None, "agent-quality-v2"),
    ],
)
def test_another_text_is_no_version_and_the_hint_shows_one(version: JsonValue, meant: str) -> None:
    """QR-02"""
    made, (finding,) = read(rubric(version=version))

    assert made is None
    assert finding.path == "version"
    assert finding.hint == f"write small letters, digits and hyphens, such as {meant}"


@pytest.mark.parametrize("key", ["a", "0", "_", "is_relevant", "a" * 128, "__a__"])
def test_a_key_has_small_letters_digits_and_underscores(key: str) -> None:
    """QR-04"""
    assert only(rubric(question(key=key))).key == key


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("Is relevant?", "is_relevant"),
        ("is-relevant", "is_relevant"),
        ("é", "e"),
        ("a\n", "a"),
        ("", "correctness"),
        ("?", "correctness"),
        (7, "correctness"),
    ],
)
def test_another_text_is_no_key_and_the_hint_shows_one(key: JsonValue, meant: str) -> None:
    """QR-04"""
    _, (finding,) = read(rubric(question(key=key)))

    assert finding.path == "questions[0].key"
    assert finding.hint == f"write small letters, digits and _, such as {meant}"


@pytest.mark.parametrize(("name", "place"), [("version", "version"), ("key", "questions[0].key")])
def test_a_name_has_at_most_128_characters(name: str, place: str) -> None:
    """QR-02, QR-04"""
    long = "a" * 129
    value = rubric(version=long) if name == "version" else rubric(question(key=long))

    assert problems(value) == [("string_too_long", place)]


@pytest.mark.parametrize("kind", SELECT_TYPES)
@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ([{"value": "a", "label": "A"}], []),
        ([], [("value_out_of_range", "questions[0].options")]),
        ("a", [("invalid_field_type", "questions[0].options")]),
        (["a"], [("invalid_field_type", "questions[0].options[0]")]),
        ([{"value": "a"}], [("missing_required_field", "questions[0].options[0].label")]),
        ([{"label": "A"}], [("missing_required_field", "questions[0].options[0].value")]),
        ([{"value": 1, "label": "A"}], [("invalid_field_type", "questions[0].options[0].value")]),
        (
            [{"value": "a", "label": "A"}, {"value": "a", "label": "B"}],
            [("duplicate_record_id", "questions[0].options[1].value")],
        ),
        (
            [{"value": "a", "label": "A"}, {"value": "A", "label": "A"}],
            [("value_out_of_range", "questions[0].options[1].value")],
        ),
    ],
)
def test_options_are_listed_once_each(
    kind: str, listed: JsonValue, found: list[tuple[str, str]]
) -> None:
    """QR-09"""
    assert problems(rubric(question(kind, options=listed))) == found


@pytest.mark.parametrize(("kind", "field"), IDLE)
@pytest.mark.parametrize("value", [None, [], 7, "0-5", [{"value": "a", "lable": "A"}]])
def test_a_field_of_another_type_is_kept_and_named_with_its_types(
    kind: str, field: str, value: JsonValue
) -> None:
    """QR-11"""
    made, findings = read(rubric(question(kind, **{field: value})))

    assert made
    assert made.questions[0].extra == {field: value}
    owners = {"scale": "score", "options": "single_select, multi_select or button_group"}
    hint = f"'{field}' is a setting of {owners[field]}"
    assert [(one.severity, one.code, one.path, one.hint) for one in findings] == [
        ("warning", "unknown_field", f"questions[0].{field}", hint)
    ]
    assert [one.strict().severity for one in findings] == ["error"]


@pytest.mark.parametrize(
    ("guidance", "found"),
    [
        ([], []),
        (["a", "", "b"], []),
        ("a", [("invalid_field_type", "guidance")]),
        ([7], [("invalid_field_type", "guidance[0]")]),
        (None, [("invalid_field_type", "guidance")]),
    ],
)
def test_the_guidance_of_a_rubric_is_a_list_of_texts(
    guidance: JsonValue, found: list[tuple[str, str]]
) -> None:
    """QR-12"""
    made, findings = read(rubric(guidance=guidance))

    assert [(one.code, one.path) for one in findings] == found
    assert made is None or list(made.guidance) == guidance


@pytest.mark.parametrize("guidance", [["a"], 7, None])
def test_the_guidance_of_a_question_is_one_text(guidance: JsonValue) -> None:
    """QR-12"""
    assert problems(rubric(question(guidance=guidance))) == [
        ("invalid_field_type", "questions[0].guidance")
    ]


def test_dimensions_beside_questions_are_ignored_and_kept() -> None:
    """QR-14"""
    made, findings = read(rubric(dimensions=["Tone"]))

    assert made
    assert [one.key for one in made.questions] == ["q"]
    assert made.extra == {"dimensions": ["Tone"]}
    assert [(one.severity, one.code, one.path) for one in findings] == [
        ("warning", "ignored_field", "dimensions")
    ]


@pytest.mark.parametrize(
    ("scale", "found"),
    [
        ("0-5", []),
        ({"min": 0, "max": 5, "step": 1}, []),
        ("1-5", [("ignored_field", "scale")]),
        ({"min": 0, "max": 5, "step": 5}, [("ignored_field", "scale")]),
    ],
)
def test_dimensions_are_scored_from_0_to_5_whatever_the_scale(
    scale: JsonValue, found: list[tuple[str, str]]
) -> None:
    """QR-13"""
    value: JsonObject = {"name": "a", "version": "a", "dimensions": ["Tone"], "scale": scale}
    made, findings = read(value)

    assert made
    assert made.questions[0].scale == Scale(min=0, max=5)
    assert [(one.code, one.path) for one in findings] == found


def test_further_fields_are_kept_at_every_level() -> None:
    """QR-15"""
    listed: JsonValue = [{"value": "a", "label": "A", "x-icon": "star"}]
    added: JsonObject = {"x-colour": "blue", "notes": "?"}
    made = sound(rubric(question("button_group", options=listed, **added), owner="desk"))

    assert made.extra == {"owner": "desk"}
    assert made.questions[0].extra == {"x-colour": "blue", "notes": "?"}
    assert made.questions[0].options[0].extra == {"x-icon": "star"}


def test_a_name_that_questions_and_options_do_not_own_is_reported() -> None:
    """QR-15"""
    listed: JsonValue = [{"value": "a", "label": "Wrong", "or no help": None}]
    made, findings = read(rubric(question("button_group", options=listed, colour="blue")))

    assert made
    assert [(one.code, one.path, one.strict().severity) for one in findings] == [
        ("unknown_field", "questions[0].colour", "error"),
        ("unknown_field", "questions[0].options[0].or no help", "error"),
    ]


@pytest.mark.parametrize(
    ("value", "path", "meant"),
    [
        (rubric(staus="draft"), "staus", "status"),
        (rubric(Guidance=["x"]), "Guidance", "guidance"),
        (rubric(scale={"min": 0, "max": 4, "stp": 2}), "scale.stp", "step"),
        (rubric(question(answered_by_auto=False)), "questions[0].answered_by_auto", None),
        (rubric(question(requierd=True)), "questions[0].requierd", "required"),
        (rubric(question("score", scael="0-1")), "questions[0].scael", "scale"),
        (rubric(question("single_select", option=[])), "questions[0].option", "options"),
    ],
)
def test_a_misspelt_field_is_a_warning_and_in_strict_mode_an_error(
    value: JsonValue, path: str, meant: str | None
) -> None:
    """QR-15"""
    made, (finding,) = read(value)

    assert made
    assert (finding.severity, finding.code, finding.path) == ("warning", "unknown_field", path)
    assert finding.hint == f"did you mean '{meant or 'answeredByAuto'}'?"
    assert finding.strict().severity == "error"


def test_every_finding_has_the_line_of_its_field() -> None:
    """QR-16"""
    text = "name: x\nversion: X\nquestions:\n- key: a\n  label: b\n  type: score\n"
    made, findings = read_question_rubric(parse_yaml(text.encode()))

    assert made is None
    assert [(one.path, one.line) for one in findings] == [
        ("questions[0].scale", 4),
        ("version", 2),
    ]


def test_the_hash_of_the_file_is_kept() -> None:
    content = parse_yaml(json.dumps(rubric()).encode())
    made, _ = read_question_rubric(content, "0" * 64)

    assert made
    assert made.sha256 == "0" * 64


@pytest.mark.parametrize("character", ["\x00", "\x1f", "\x7f", "\x85", "\x9f", "\x0b"])
def test_control_characters_are_refused_wherever_they_stand(character: str) -> None:
    """QR-17"""
    value = rubric(question(label=f"a{character}", notes=[character]), name=f"a{character}")

    assert problems(value) == [
        ("invalid_encoding", "name"),
        ("invalid_encoding", "questions[0].label"),
        ("invalid_encoding", "questions[0].notes[0]"),
    ]


def test_tabs_and_line_breaks_are_text() -> None:
    """QR-17"""
    assert only(rubric(question(label="a\tb\r\nc"))).label == "a\tb\r\nc"


def test_half_a_surrogate_pair_is_refused() -> None:
    """QR-17"""
    assert problems(rubric(question(label="\ud800"))) == [
        ("invalid_encoding", "questions[0].label")
    ]


@given(json_values)
def test_no_value_is_too_odd_to_be_read(value: JsonValue) -> None:
    """QR-16"""
    made, findings = read(value)

    assert (made is None) is any(finding.is_error for finding in findings)


@given(spoilt_rubrics())
def test_a_spoilt_rubric_is_refused_wherever_the_published_schema_refuses_it(
    value: JsonObject,
) -> None:
    """QR-16"""
    made, findings = read(value)

    assert (made is None) is any(finding.is_error for finding in findings)
    if not SCHEMA.is_clean(value) and any(
        one.severity == "error" for one in SCHEMA.problems(value)
    ):
        assert made is None


@given(json_values | spoilt_rubrics())
def test_the_fast_way_accepts_nothing_that_the_slow_way_refuses(value: JsonValue) -> None:
    if SCHEMA.is_clean(value):
        assert SCHEMA.problems(value) == []


def test_the_schema_lists_the_types_of_the_model() -> None:
    defined = cast(Any, load_schema("question_rubric"))["$defs"]["question"]["properties"]

    assert defined["type"]["enum"] == list(QUESTION_TYPES)
