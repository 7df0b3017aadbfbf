"""What each contract can hold of a case, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.contracts import CONTRACTS, DATASETS
from steelyard.contracts.contract import Contract
from steelyard.contracts.fits.eval_cases import missing
from steelyard.contracts.fits.fit import Fitted, Way
from steelyard.contracts.fits.fitting import fit
from steelyard.model.case import AnswerChoice, Attachment, Case, Criterion
from steelyard.model.conversion import Refusal
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject
from steelyard.model.message import FileBlock, ImageBlock, Message, OtherBlock, TextBlock, ToolCall

ASKED = (Message(role="user", content="Why?"),)
PLAIN = Case(id="a", dataset="d", input_messages=ASKED, reference_answers=("So.",))
OTHERS = [(source, to) for source in DATASETS for to in DATASETS if source != to]


ONE_PROMPT = [name for name in DATASETS if CONTRACTS[name].has_one_prompt]


def way(source: str, to: str) -> Way:
    known = CONTRACTS.get(source) or Contract(name=source, described=source)
    return Way(known, CONTRACTS[to], "d")


def fitted(case: Case, to: str, source: str = "another") -> Fitted:
    made = fit(case, way(source, to))
    assert isinstance(made, Fitted)
    return made


def refused(case: Case, to: str) -> str:
    made = fit(case, way("another", to))
    assert isinstance(made, Refusal)
    assert made.outcome == "left_out"
    return made.reason


def lost(case: Case, to: str, source: str = "another") -> list[str]:
    return [change.field for change in fitted(case, to, source).changes if change.is_lost]


def moved(case: Case, to: str, source: str = "another") -> list[str]:
    return [change.field for change in fitted(case, to, source).changes if not change.is_lost]


@pytest.mark.parametrize(("source", "to"), OTHERS)
def test_a_plain_question_with_its_answer_comes_over_whole(source: str, to: str) -> None:
    made = fitted(PLAIN, to, source)
    kept = made.case.answers or (made.case.expected_outcome,)

    assert (made.case.id, made.case.input_messages, kept) == ("a", ASKED, ("So.",))
    assert [change for change in made.changes if change.is_lost] == []


@pytest.mark.parametrize("contract", DATASETS)
def test_in_its_own_contract_a_case_stays_as_it_is(contract: str) -> None:
    case = replace(PLAIN, extra={"x": 1}, context="c", choices=(AnswerChoice("A", "a"),))

    assert fit(case, way(contract, contract)) == Fitted(case)


@pytest.mark.parametrize("to", ONE_PROMPT)
@pytest.mark.parametrize(
    ("case", "told"),
    [
        (replace(PLAIN, context="Facts"), "the question needs its context"),
        (
            replace(PLAIN, context="Facts", attachments=(Attachment(path="a.pdf"),)),
            "needs its context and attachments",
        ),
        (replace(PLAIN, input_messages=(*ASKED, *ASKED)), "a conversation"),
        (replace(PLAIN, input_messages=()), "a conversation"),
        (replace(PLAIN, input_messages=(Message(role="system", content="x"),)), "a conversation"),
        (replace(PLAIN, input_messages=(Message(role="user", content=" "),)), "nothing is asked"),
    ],
)
def test_a_contract_with_one_prompt_leaves_out_what_asks_with_more(
    case: Case, told: str, to: str
) -> None:
    assert told in refused(case, to)


@pytest.mark.parametrize("to", ["dataset_document", "question_set", "evals_json", "eval_cases"])
def test_a_question_of_choices_is_left_out_of_what_has_none(to: str) -> None:
    case = replace(
        PLAIN, choices=(AnswerChoice("A", "a"), AnswerChoice("B", "b")), correct_choice_ids=("A",)
    )

    assert "the question needs its choices" in refused(case, to)


LABELLED = replace(PLAIN, tags=("t",), conversation_id="c", task_type="reference_qa", bundle="b")


@pytest.mark.parametrize(
    ("to", "labels"),
    [
        ("dataset_document", ["conversation_id", "task_type", "bundle"]),
        ("question_set", ["tags", "conversation_id", "task_type"]),
        ("evals_json", ["tags", "conversation_id", "task_type", "bundle"]),
        ("legal_eval", ["tags", "conversation_id", "bundle"]),
        ("eval_cases", ["task_type", "bundle"]),
    ],
)
def test_what_describes_a_case_is_kept_in_metadata(to: str, labels: list[str]) -> None:
    kept = [field for field in moved(LABELLED, to) if field != "reference_answers"]

    assert sorted(kept) == sorted(labels)
    assert lost(LABELLED, to) == []


def test_a_name_that_metadata_has_already_is_lost_unless_it_says_the_same() -> None:
    case = replace(LABELLED, metadata={"tags": ["t"], "conversation_id": "other"})
    changes = fitted(case, "question_set").changes
    said = {change.field: change.message for change in changes if change.is_lost}

    assert said == {"conversation_id": "metadata has a 'conversation_id' of its own"}


@pytest.mark.parametrize(
    ("source", "extra", "kept", "gone"),
    [
        ("legal_eval", {"prompt": "p", "note": 1}, {"note": 1}, []),
        ("question_set", {"criteria": ["c"], "note": 1}, {"note": 1}, []),
        ("eval_cases", {"execution": {"region": "eu"}, "note": 1}, {"note": 1}, ["execution"]),
        ("dataset_document", {"input": {"lang": "en"}}, {"input": {"lang": "en"}}, []),
        ("evals_json", {"metadata": {"note": 1}}, {"note": 1}, []),
    ],
)
def test_further_fields_are_kept_in_metadata(
    source: str, extra: JsonObject, kept: JsonObject, gone: list[str]
) -> None:
    to = "question_set" if source != "question_set" else "dataset_document"
    made = fitted(replace(PLAIN, extra=extra), to, source)

    assert dict(made.case.metadata) == kept
    assert made.case.extra == {}
    assert [change.field for change in made.changes if change.is_lost] == gone


def test_the_name_of_another_dataset_is_kept() -> None:
    made = fitted(replace(PLAIN, dataset="lexam"), "eval_cases")

    assert made.case.metadata == {"dataset": "lexam"}


GRADED = replace(
    PLAIN,
    expected_outcome="Says why",
    expected={"max_latency_ms": 5, "format": "json", "expected_facts": ["f"]},
    rubric_ref="rubric/a@1.0",
    evaluators=(Evaluator(name="l", type="latency"), Evaluator(name="c", type="cost")),
    evaluator="rubric",
    target="live",
)
EVALUATORS = ["evaluators: latency", "evaluators: cost", "evaluator", "target"]


@pytest.mark.parametrize(
    ("to", "gone"),
    [
        (
            "dataset_document",
            [
                "expected_outcome",
                "rubric_ref",
                *EVALUATORS,
                "expected.format",
                "expected_facts",
            ],
        ),
        ("question_set", EVALUATORS),
        (
            "evals_json",
            [
                *EVALUATORS,
                "rubric_ref",
                "expected.max_latency_ms",
                "expected.format",
                "expected_facts",
                "reference_answers",
            ],
        ),
        (
            "legal_eval",
            [
                "expected_outcome",
                "expected.max_latency_ms",
                "expected.format",
                "expected_facts",
                "rubric_ref",
                *EVALUATORS,
            ],
        ),
    ],
)
def test_ways_of_grading_that_a_contract_lacks_are_lost(to: str, gone: list[str]) -> None:
    assert lost(GRADED, to) == gone


def test_what_a_reader_sets_by_itself_is_no_loss() -> None:
    case = replace(PLAIN, target="default", evaluator="llm_judge")

    assert lost(case, "dataset_document") == []


@pytest.mark.parametrize("to", ["dataset_document", "question_set", "eval_cases", "evals_json"])
def test_of_several_answers_the_first_is_kept(to: str) -> None:
    case = replace(PLAIN, reference_answers=("So.", "Thus."))

    assert lost(case, to) == ["reference_answers"]


def test_the_last_expected_message_is_the_reference_answer() -> None:
    messages = (
        Message(role="assistant", content="Let me see", tool_calls=(ToolCall(tool="find"),)),
        Message(role="assistant", content="So."),
    )
    case = replace(PLAIN, reference_answers=(), expected_messages=messages)

    assert fitted(case, "dataset_document").case.reference_answers == ("So.",)
    assert lost(case, "dataset_document") == ["expected_messages.tool_calls", "expected_messages"]


@pytest.mark.parametrize("to", ["dataset_document", "question_set", "evals_json", "legal_eval"])
@pytest.mark.parametrize(
    ("block", "named"),
    [
        (ImageBlock(data={"type": "image"}, url="https://x.example/p.png"), "an image"),
        (OtherBlock(data={"type": "widget"}), "a block of type 'widget'"),
    ],
)
def test_a_question_with_a_part_that_is_no_text_is_left_out(
    block: OtherBlock, named: str, to: str
) -> None:
    message = Message(role="user", content=(TextBlock(text="Look:"), block))
    made = fit(replace(PLAIN, input_messages=(message,)), way("eval_cases", to))

    reason = f"the question holds {named}, and {to} asks with text alone"
    assert made == Refusal("left_out", reason)


def test_files_in_a_message_become_their_text() -> None:
    blocks = (TextBlock(text="Read:"), FileBlock(value="n.md", path="/n.md", text="Notes"))
    message = Message(role="user", content=blocks, name="ann", extra={"x": 1})
    case = replace(PLAIN, input_messages=(message,))
    made = fitted(case, "question_set")

    assert made.case.input_messages == (Message(role="user", content="Read:\nNotes"),)
    assert lost(case, "question_set") == ["input_messages.name", "input_messages.x"]
    assert "input_messages: file" in moved(case, "question_set")


# --- dataset_document


def test_metadata_beyond_the_limits_loses_its_largest_parts() -> None:
    deep: JsonObject = {"a": {"b": {"c": {"d": {}}}}}
    case = replace(PLAIN, metadata={"deep": deep, "long": "x" * 9000, "short": "y" * 8000})
    made = fitted(case, "dataset_document")

    assert made.case.metadata == {"short": "y" * 8000}
    assert lost(case, "dataset_document") == ["metadata.deep", "metadata.long"]


@pytest.mark.parametrize(("size", "is_kept"), [(8192 - 8, True), (8192 - 7, False)])
def test_metadata_may_have_8_kb_serialized(size: int, is_kept: bool) -> None:
    made = fitted(replace(PLAIN, metadata={"a": "x" * size}), "dataset_document")

    assert bool(made.case.metadata) is is_kept


@pytest.mark.parametrize(("levels", "is_kept"), [(4, True), (5, False)])
def test_metadata_may_have_5_levels(levels: int, is_kept: bool) -> None:
    value: JsonObject = {}
    for _ in range(levels - 1):
        value = {"a": value}
    made = fitted(replace(PLAIN, metadata={"top": value}), "dataset_document")

    assert bool(made.case.metadata) is is_kept


# --- legal_eval


CRITERIA = (Criterion(id="1", title="One", weight=2.0), Criterion(id="2", title="Two"))


@pytest.mark.parametrize(
    ("changes", "task_type"),
    [
        ({}, "reference_qa"),
        ({"criteria": CRITERIA}, "rubric_qa"),
        ({"choices": (AnswerChoice("A", "a"),), "correct_choice_ids": ("A",)}, "mcq"),
        ({"task_type": "mcq"}, "reference_qa"),
    ],
)
def test_the_task_type_follows_from_what_grades(
    changes: dict[str, object], task_type: str
) -> None:
    made = fitted(replace(PLAIN, **changes), "legal_eval")

    assert made.case.task_type == task_type


def test_an_mcq_row_loses_its_reference_answers() -> None:
    case = replace(PLAIN, choices=(AnswerChoice("A", "a"),), correct_choice_ids=("A",))

    assert fitted(case, "legal_eval").case.reference_answers == ()
    assert lost(case, "legal_eval") == ["reference_answers"]


def test_rubric_items_become_criteria() -> None:
    items = (RubricItem(id="r", description="Is kind", weight=2.0, extra={"operator": "x"}),)
    rubric = Evaluator(name="rubric", type="rubric", rubrics=items)
    case = replace(PLAIN, rubrics=items, evaluators=(rubric,))
    made = fitted(case, "legal_eval")

    assert made.case.criteria == (
        Criterion(id="r", title="Is kind", weight=2.0, extra={"operator": "x"}),
    )
    assert lost(case, "legal_eval") == ["rubrics.required"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"reference_answers": ()}, "nothing to grade by"),
        ({"reference_answers": (" ",)}, "nothing to grade by"),
        ({"input_messages": (Message(role="tool", content="x"), *ASKED)}, "a message of a tool"),
        ({"input_messages": ()}, "the last message is not the user's"),
        (
            {"input_messages": (*ASKED, Message(role="assistant", content="x"))},
            "the last message is not the user's",
        ),
        (
            {"input_messages": (Message(role="system", content=""), *ASKED)},
            "a message without a text",
        ),
    ],
)
def test_legal_eval_leaves_out_what_it_cannot_ask_or_grade(
    changes: dict[str, object], told: str
) -> None:
    case = replace(PLAIN, **changes)

    assert told in refused(case, "legal_eval")


# --- eval_cases


def test_context_and_attachments_become_messages() -> None:
    attachment = Attachment(path="a.txt", kind="txt", title="A", text="Text", extra={"x": 1})
    case = replace(PLAIN, context="Facts", attachments=(attachment,))
    made = fitted(case, "eval_cases")

    assert made.case.input_messages == (
        Message(role="system", content="Facts"),
        Message(
            role="user",
            content=(
                TextBlock(text="Why?"),
                FileBlock(
                    value="a.txt",
                    path="a.txt",
                    text="Text",
                    extra={"kind": "txt", "title": "A", "x": 1},
                ),
            ),
        ),
    )
    assert moved(case, "eval_cases") == ["attachments", "context"]


def test_criteria_become_rubrics_unless_one_takes_points_away() -> None:
    described = Criterion(id="3", title="Three", description="More", extra={"category": "c"})
    case = replace(PLAIN, criteria=(*CRITERIA, described))
    items = fitted(case, "eval_cases").case.rubrics
    negative = replace(PLAIN, criteria=(*CRITERIA, Criterion(id="4", title="Four", weight=-1.0)))

    assert [(item.description, item.weight, item.required) for item in items] == [
        ("One", 2.0, False),
        ("Two", 1.0, False),
        ("Three", 1.0, False),
    ]
    assert lost(case, "eval_cases") == ["criteria.description", "criteria.category"]
    assert lost(negative, "eval_cases") == ["criteria"]


@pytest.mark.parametrize(
    ("changes", "goal", "grading"),
    [
        ({"expected_outcome": "O"}, True, True),
        ({"expected_messages": ASKED}, False, True),
        ({"evaluators": (Evaluator(name="a", type="is_json"),)}, False, True),
        ({}, False, False),
    ],
)
def test_jsonl_needs_a_goal_and_yaml_anything_that_grades(
    changes: dict[str, object], goal: bool, grading: bool
) -> None:
    case = Case(id="a", **changes)  # pyright: ignore[reportArgumentType]

    assert (missing(case, ".jsonl") is None, missing(case, ".yaml") is None) == (goal, grading)


# --- evals_json


def phrases(kind: str, *values: str) -> Evaluator:
    settings: JsonObject = {"phrases": list(values), "required": True}
    return Evaluator(name=kind, type=kind, settings=settings)


def evaluator(kind: str, **settings: object) -> Evaluator:
    return Evaluator(name="e", type=kind, settings=settings)  # pyright: ignore[reportArgumentType]


def test_inline_checks_become_evaluators_that_ignore_case() -> None:
    checks = (phrases("must_contain_any", "a", "b"), phrases("must_not_contain", "c"))
    lint = Evaluator(name="php_lint", type="php_lint", settings={"required": True})
    case = replace(PLAIN, evaluators=(*checks, lint))
    made = fitted(case, "eval_cases", "evals_json")

    assert [(e.type, dict(e.settings)) for e in made.case.evaluators] == [
        ("icontains_any", {"value": ["a", "b"], "required": True}),
        ("icontains_any", {"value": ["c"], "required": True, "negate": True}),
    ]
    assert lost(case, "eval_cases", "evals_json") == ["evaluators: php_lint"]


def test_required_phrases_become_inline_checks_and_other_evaluators_are_lost() -> None:
    case = replace(
        PLAIN,
        evaluators=(
            evaluator("icontains", value="a", required=True),
            evaluator("icontains_any", value=["b"], required=True, negate=True),
            evaluator("icontains", value="c", required=True, negate=True),
            evaluator("icontains", value="second list", required=True),
            evaluator("contains", value="case counts", required=True),
            evaluator("regex", value="x"),
        ),
    )
    made = fitted(case, "evals_json")

    assert made.case.evaluators == (
        phrases("must_contain_any", "a"),
        phrases("must_not_contain", "b", "c"),
    )
    assert lost(case, "evals_json") == [
        "evaluators: icontains",
        "evaluators: contains",
        "evaluators: regex",
    ]


def test_an_outcome_comes_before_a_reference_answer_as_expected_output() -> None:
    case = replace(PLAIN, expected_outcome="Says why", metadata={"a": 1})
    made = fitted(case, "evals_json")

    assert made.case.expected_outcome == "Says why"
    assert made.case.extra == {"metadata": {"a": 1}}
    assert lost(case, "evals_json") == ["reference_answers"]
