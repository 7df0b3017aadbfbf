"""What each field of a row must be, and what is said when it is not."""

from __future__ import annotations

import pytest

from steelyard.model.json_value import JsonObject, JsonValue
from strategies.legal_eval import CHOICES, OWN, case_of, found_in, row, rows_of, without

REQUIRED = ["schema_version", "id", "dataset", "task_type", "prompt"]
MISSING = "missing_required_field"
TYPE = "invalid_field_type"
RANGE = "value_out_of_range"
ENUM = "invalid_enum_value"
UNSUPPORTED = "unsupported_field"
KEPT: JsonValue = [1, {"a": None}]


def errors(value: JsonValue) -> list[tuple[str, str]]:
    found = found_in(value)

    assert all(severity == "error" for severity, _, _ in found)
    return [(code, path) for _, code, path in found]


@pytest.mark.parametrize("name", REQUIRED)
def test_five_fields_are_required(name: str) -> None:
    """LE-10"""
    assert errors(without(name)) == [(MISSING, name)]


@pytest.mark.parametrize("name", ["id", "dataset", "prompt"])
@pytest.mark.parametrize("blank", ["", " ", "\t\n\u3000", "\ufeff"])
def test_a_required_string_is_not_blank(name: str, blank: str) -> None:
    """LE-11"""
    assert errors(row(**{name: blank})) == [(RANGE, name)]


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("schema_version", "legal_eval_v2", "did you mean 'legal_eval_v1'?"),
        ("schema_version", "1.0", None),
        ("task_type", "MCQ", "did you mean 'mcq'?"),
        ("task_type", "essay", None),
        ("task_type", "", None),
    ],
)
def test_versions_and_types_are_listed(name: str, value: str, hint: str | None) -> None:
    """LE-12"""
    (one,) = rows_of(row(**{name: value}))

    assert [(found.code, found.path, found.hint) for found in one.findings] == [(ENUM, name, hint)]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (row(schema_version=1), "schema_version"),
        (row(id=1), "id"),
        (row(dataset=None), "dataset"),
        (row(task_type=["mcq"]), "task_type"),
        (row(prompt={"text": "x"}), "prompt"),
        (row(context=None), "context"),
        (row(context=["x"]), "context"),
        (row(messages={}), "messages"),
        (row(messages=["x"]), "messages[0]"),
        (row(messages=[{"role": "user", "content": ["x"]}]), "messages[0].content"),
        (row(attachments="a.pdf"), "attachments"),
        (row(attachments=["a.pdf"]), "attachments[0]"),
        (row(attachments=[{"path": None}]), "attachments[0].path"),
        (row(attachments=[{"path": "documents/notes.md", "kind": 1}]), "attachments[0].kind"),
        (row(attachments=[{"path": "documents/notes.md", "title": 1}]), "attachments[0].title"),
        (row(metadata=[]), "metadata"),
        (row(metadata=None), "metadata"),
        (row(reference_answers="yes"), "reference_answers"),
        (row(reference_answers=["a", 1]), "reference_answers[1]"),
        (row("rubric_qa", rubric={}), "rubric"),
        (row("rubric_qa", rubric=["be right"]), "rubric[0]"),
        (row("rubric_qa", rubric=[{"id": 1, "title": "t"}]), "rubric[0].id"),
        (row("rubric_qa", rubric=[{"id": "a", "title": 1}]), "rubric[0].title"),
        (
            row("rubric_qa", rubric=[{"id": "a", "title": "t", "description": None}]),
            "rubric[0].description",
        ),
        (row("rubric_qa", rubric=[{"id": "a", "title": "t", "weight": "5"}]), "rubric[0].weight"),
        (row("rubric_qa", rubric=[{"id": "a", "title": "t", "weight": True}]), "rubric[0].weight"),
        (row("rubric_qa", rubric=[{"id": "a", "title": "t", "weight": None}]), "rubric[0].weight"),
        (row("rubric_qa", reference_answers=[None]), "reference_answers[0]"),
        (row("mcq", choices={"A": "x"}), "choices"),
        (row("mcq", choices=["x", "y"]), "choices[0]"),
        (row("mcq", choices=[*CHOICES, {"id": 3, "text": "x"}]), "choices[2].id"),
        (row("mcq", choices=[*CHOICES, {"id": "C", "text": 3}]), "choices[2].text"),
        (row("mcq", correct_choice_ids="A"), "correct_choice_ids"),
        (row("mcq", correct_choice_ids=["A", 2]), "correct_choice_ids[1]"),
    ],
    ids=str,
)
def test_a_value_of_another_type_is_refused(value: JsonObject, path: str) -> None:
    """LE-13"""
    assert errors(value)[0] == (TYPE, path)


@pytest.mark.parametrize(
    ("task_type", "missing"),
    [
        ("rubric_qa", ["rubric"]),
        ("reference_qa", ["reference_answers"]),
        ("mcq", ["choices", "correct_choice_ids"]),
    ],
)
def test_each_type_demands_what_it_is_graded_by(task_type: str, missing: list[str]) -> None:
    """LE-17"""
    value = {key: item for key, item in row(task_type).items() if key not in OWN[task_type]}

    assert errors(value) == [(MISSING, name) for name in missing]


@pytest.mark.parametrize(
    ("task_type", "name", "hint"),
    [
        ("rubric_qa", "choices", "a rubric_qa row has no choices"),
        ("rubric_qa", "correct_choice_ids", "a rubric_qa row has no choices"),
        ("reference_qa", "rubric", "a reference_qa row has no rubric"),
        ("reference_qa", "choices", "a reference_qa row has no choices"),
        ("reference_qa", "correct_choice_ids", "a reference_qa row has no choices"),
        ("mcq", "rubric", "an mcq row has no rubric"),
        ("mcq", "reference_answers", "an mcq row has no reference answers"),
    ],
)
@pytest.mark.parametrize("is_empty", [True, False])
def test_each_type_forbids_what_others_are_graded_by(
    task_type: str, name: str, hint: str, is_empty: bool
) -> None:
    """LE-18"""
    given = next(own[name] for own in OWN.values() if name in own)
    (one,) = rows_of(row(task_type, **{name: [] if is_empty else given}))

    forbidden = [found for found in one.findings if found.code == UNSUPPORTED]
    assert [(found.path, found.hint, found.severity) for found in forbidden] == [
        (name, hint, "error")
    ]


def test_a_rubric_may_come_with_reference_answers() -> None:
    """LE-18"""
    assert errors(row("rubric_qa", reference_answers=["", "x"])) == []
    assert errors(row("rubric_qa", reference_answers=[])) == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (row("rubric_qa", rubric=[]), "rubric"),
        (row(reference_answers=[]), "reference_answers"),
        (row(reference_answers=["x", " "]), "reference_answers[1]"),
        (row("mcq", choices=CHOICES[1:]), "choices"),
        (row("mcq", correct_choice_ids=[]), "correct_choice_ids"),
        (row("rubric_qa", rubric=[{"id": " ", "title": "t"}]), "rubric[0].id"),
        (row("rubric_qa", rubric=[{"id": "a", "title": ""}]), "rubric[0].title"),
        (row("mcq", choices=[*CHOICES, {"id": "", "text": "x"}]), "choices[2].id"),
        (row("mcq", choices=[*CHOICES, {"id": "C", "text": "\n"}]), "choices[2].text"),
        (row(attachments=[{"path": " "}]), "attachments[0].path"),
        (row(messages=[{"role": "user", "content": " "}]), "messages[0].content"),
    ],
    ids=str,
)
def test_what_is_too_little_is_refused(value: JsonObject, path: str) -> None:
    """LE-11, LE-19, LE-23"""
    assert errors(value) == [(RANGE, path)]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (row(messages=[{"content": "x"}]), (MISSING, "messages[0].role")),
        (row(messages=[{"role": "user"}]), (MISSING, "messages[0].content")),
        (row(messages=[{"role": "tool", "content": "x"}]), (ENUM, "messages[0].role")),
        (row(attachments=[{"title": "x"}]), (MISSING, "attachments[0].path")),
        (row("rubric_qa", rubric=[{"id": "a"}]), (MISSING, "rubric[0].title")),
        (row("rubric_qa", rubric=[{"title": "a"}]), (MISSING, "rubric[0].id")),
        (row("mcq", choices=[*CHOICES, {"id": "C"}]), (MISSING, "choices[2].text")),
        (row("mcq", choices=[*CHOICES, {"text": "C"}]), (MISSING, "choices[2].id")),
    ],
    ids=str,
)
def test_the_parts_of_a_row_have_required_fields(
    value: JsonObject, found: tuple[str, str]
) -> None:
    """LE-10, LE-23"""
    assert errors(value) == [found]


@pytest.mark.parametrize("value", [row(messages=[]), row(attachments=[]), row(context="")])
def test_what_may_be_left_out_may_be_empty(value: JsonObject) -> None:
    assert errors(value) == []


def test_ids_are_unique_within_a_row() -> None:
    """LE-20"""
    criterion: JsonObject = {"id": "c", "title": "t"}
    choices: list[JsonValue] = [*CHOICES, {"id": "A", "text": "x"}, {"id": "A", "text": "y"}]
    (rubric,) = rows_of(row("rubric_qa", rubric=[criterion, {"id": "d", "title": "t"}, criterion]))

    assert [(found.code, found.path, found.message) for found in rubric.findings] == [
        (
            "duplicate_record_id",
            "rubric[2].id",
            "rubric[2].id 'c' is used by an earlier criterion",
        )
    ]
    assert errors(row("mcq", choices=choices)) == [
        ("duplicate_record_id", "choices[2].id"),
        ("duplicate_record_id", "choices[3].id"),
    ]


def test_choices_may_say_the_same() -> None:
    """LE-20"""
    assert errors(row("mcq", choices=[*CHOICES, {"id": "a", "text": "Yes"}])) == []


@pytest.mark.parametrize("weight", [0, -10, 2.5, 1e300, 10**20])
def test_a_weight_may_be_any_number_that_sums_can_hold(weight: float) -> None:
    """LE-21"""
    case = case_of(row("rubric_qa", rubric=[{"id": "a", "title": "t", "weight": weight}]))

    assert case.criteria[0].weight == weight


@pytest.mark.parametrize(
    ("named", "found"),
    [
        (["A"], []),
        (["B", "A"], []),
        (["a"], [(ENUM, "correct_choice_ids[0] must be A or B, not 'a'", "did you mean 'A'?")]),
        (
            ["A", "C"],
            [(ENUM, "correct_choice_ids[1] must be A or B, not 'C'", None)],
        ),
        (["A", "A"], [(RANGE, "correct_choice_ids[1] repeats 'A'", None)]),
        (["Yes"], [(ENUM, "correct_choice_ids[0] must be A or B, not 'Yes'", None)]),
    ],
)
def test_a_correct_choice_is_one_of_the_choices(
    named: list[JsonValue], found: list[tuple[str, str, str | None]]
) -> None:
    """LE-22"""
    (one,) = rows_of(row("mcq", correct_choice_ids=named))

    assert [(finding.code, finding.message, finding.hint) for finding in one.findings] == found


def test_of_many_choices_a_few_are_listed() -> None:
    """LE-22"""
    many: list[JsonValue] = [{"id": f"c{number}", "text": "x"} for number in range(12)]
    (one,) = rows_of(row("mcq", choices=many, correct_choice_ids=["none"]))

    assert one.findings[0].message == (
        "correct_choice_ids[0] must be c0, c1, c2, c3, c4, c5, c6, c7 or 4 more, not 'none'"
    )


@pytest.mark.parametrize("name", ["notes", "source", "x"])
def test_an_unknown_field_is_kept_with_a_warning(name: str) -> None:
    """LE-15"""
    (one,) = rows_of(row(**{name: KEPT}))

    (finding,) = one.findings
    assert (finding.severity, finding.code, finding.path) == ("warning", "unknown_field", name)
    assert finding.hint is None
    assert finding.strict().severity == "warning"
    assert case_of(row(**{name: KEPT})).extra == {name: KEPT}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("contexts", "context"),
        ("Messages", "messages"),
        ("attachment", "attachments"),
        ("meta-data", "metadata"),
    ],
)
def test_a_near_miss_is_named_and_is_an_error_when_strict(name: str, meant: str) -> None:
    """LE-15"""
    (one,) = rows_of(row(**{name: "x"}))

    (finding,) = one.findings
    assert (finding.severity, finding.hint) == ("warning", f"did you mean '{meant}'?")
    assert finding.strict().severity == "error"


@pytest.mark.parametrize(
    ("value", "path", "meant"),
    [
        (
            row(messages=[{"role": "user", "content": "x", "contnt": 1}]),
            "messages[0].contnt",
            "content",
        ),
        (
            row(attachments=[{"path": "documents/notes.md", "titel": 1}]),
            "attachments[0].titel",
            "title",
        ),
        (
            row("rubric_qa", rubric=[{"id": "a", "title": "t", "wieght": 1}]),
            "rubric[0].wieght",
            "weight",
        ),
        (
            row("mcq", choices=[*CHOICES, {"id": "C", "text": "t", "Text": 1}]),
            "choices[2].Text",
            "text",
        ),
    ],
    ids=str,
)
def test_a_near_miss_inside_a_part_is_named(value: JsonObject, path: str, meant: str) -> None:
    """LE-16"""
    (one,) = rows_of(value)

    assert [(found.severity, found.code, found.path, found.hint) for found in one.findings] == [
        ("warning", "unknown_field", path, f"did you mean '{meant}'?")
    ]


def test_names_in_metadata_are_not_judged() -> None:
    """LE-16"""
    value = row(
        "mcq",
        attachments=[{"path": "documents/notes.md", "metadata": {"pages": 2}}],
        choices=[*CHOICES, {"id": "C", "text": "t", "metadata": {"source": [1]}}],
        metadata={"contxt": 1, "promt": 2, "policy": 3},
    )

    assert found_in(value) == []
    case = case_of(value)
    assert case.attachments[0].extra == {"metadata": {"pages": 2}}
    assert case.choices[2].extra == {"metadata": {"source": [1]}}


def test_other_fields_inside_parts_are_kept_and_told() -> None:
    """LE-16"""
    value = row(
        "mcq",
        messages=[{"role": "user", "content": "x", "name": 1}],
        attachments=[{"path": "documents/notes.md", "pages": 2}],
        choices=[*CHOICES, {"id": "C", "text": "t", "source": [1]}],
    )
    (one,) = rows_of(value)

    told = [(found.severity, found.code, found.path) for found in one.findings]
    assert told == [
        ("warning", "unknown_field", "attachments[0].pages"),
        ("warning", "unknown_field", "choices[2].source"),
        ("warning", "unknown_field", "messages[0].name"),
    ]
    assert case_of(value).input_messages[0].extra == {"name": 1}


@pytest.mark.parametrize("name", ["tool_calls", "function_call", "tool_call_id"])
def test_tool_history_in_a_message_is_refused(name: str) -> None:
    """LE-16"""
    value = row("mcq", messages=[{"role": "assistant", "content": "x", name: "search"}])

    assert errors(value) == [(UNSUPPORTED, f"messages[0].{name}")]


def test_every_error_of_a_row_is_reported() -> None:
    value = row("mcq", id="", prompt=1, choices=[{"id": "A"}], context=5)

    assert errors(value) == [
        (RANGE, "choices"),
        (MISSING, "choices[0].text"),
        (TYPE, "context"),
        (RANGE, "id"),
        (TYPE, "prompt"),
    ]
