"""What is written reads back the same."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings

from steelyard.contracts.legal_eval.writer import case_row, write_legal_eval
from steelyard.errors import RequestError
from steelyard.model.case import AnswerChoice, Case, Criterion
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from strategies.effort import examples
from strategies.legal_eval import case_of, datasets, jsonl, read_back, row

ASKED = Message(role="user", content="Hi")


@given(datasets)
@settings(max_examples=examples(300))
def test_a_dataset_reads_back_the_same(dataset: Dataset) -> None:
    """LE-37"""
    assert read_back(write_legal_eval(dataset)) == dataset


@pytest.mark.parametrize(
    "value",
    [
        row("rubric_qa", context="Law.", metadata={"policy_id": "prbench_v1", "n": 1}),
        row("mcq", attachments=[{"path": "documents/notes.md", "title": "Notes", "pages": 2}]),
        row("reference_qa", note="kept"),
    ],
)
def test_a_row_is_written_as_it_was(value: JsonObject) -> None:
    """LE-37"""
    assert json.loads(write_legal_eval(read_back(jsonl(value)))) == value


def test_the_fields_of_a_row_come_in_the_order_of_the_contract() -> None:
    """LE-37"""
    names = ["schema_version", "id", "dataset", "task_type", "prompt", "choices"]

    assert list(case_row(case_of(row("mcq")))) == [*names, "correct_choice_ids"]


def test_a_conversation_is_written_with_the_prompt_as_its_last_turn() -> None:
    """LE-38"""
    before: JsonObject = {"role": "system", "content": "Be brief."}
    written = case_row(case_of(row(messages=[before])))

    assert written["messages"] == [before, {"role": "user", "content": written["prompt"]}]


@pytest.mark.parametrize(
    ("fields", "task_type"),
    [
        (
            {
                "choices": (AnswerChoice("A", "x"), AnswerChoice("B", "y")),
                "correct_choice_ids": ("A",),
            },
            "mcq",
        ),
        ({"criteria": (Criterion(id="c", title="t"),)}, "rubric_qa"),
        ({"reference_answers": ("Yes",)}, "reference_qa"),
        (
            {"criteria": (Criterion(id="c", title="t"),), "reference_answers": ("Yes",)},
            "rubric_qa",
        ),
    ],
)
def test_a_case_of_another_contract_gets_the_type_that_fits(
    fields: JsonObject, task_type: str
) -> None:
    """LE-39"""
    case = replace(Case(id="a", dataset="d", input_messages=(ASKED,)), **fields)

    assert case_row(case)["task_type"] == task_type


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Case(id="a", input_messages=(ASKED,)), "case 'a' has neither choices nor criteria nor"),
        (
            Case(id="a", choices=(AnswerChoice("A", "x"),), input_messages=(ASKED,)),
            "has neither choices nor",
        ),
        (Case(id="a", reference_answers=("b",)), "case 'a' asks nothing"),
        (
            Case(
                id="a",
                reference_answers=("b",),
                input_messages=(Message(role="user", content=" \ufeff"),),
            ),
            "case 'a' asks nothing",
        ),
        (
            Case(
                id="a",
                reference_answers=("b",),
                input_messages=(Message(role="tool", content="1"), ASKED),
            ),
            "case 'a' has a message of a tool",
        ),
    ],
)
def test_a_case_that_no_row_can_hold_is_refused(case: Case, message: str) -> None:
    """LE-39"""
    with pytest.raises(RequestError, match=message):
        write_legal_eval(Dataset(id="d", contract="eval_cases", cases=(case,)))
