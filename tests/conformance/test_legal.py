"""Legal rows and model replies that nobody here wrote."""

from __future__ import annotations

import json
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from steelyard.checks.choice_answers import ChoiceReader, Selection
from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.prompting import policy_messages
from steelyard.contracts.legal_eval.writer import case_row
from steelyard.model.case import AnswerChoice, Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from steelyard.usecases.datasets.validate import ValidateOptions, validate

SAMPLE = "legal_eval_v1.sample.jsonl"
# The sample comes without the one document that it names.
MISSING = Finding(
    severity="warning",
    code="missing_file",
    message="attachments[0].path: no such file: documents/1382/"
    "Convention on Conduct of Fishing Operations in the North Atlantic.pdf",
    path="attachments[0].path",
    line=2,
    index=1,
    record_id="apexv1:1382",
)
# How the replies to multiple-choice questions are read, by the shape that they were filed under.
# One of those with broken JSON answers an open question: it selects nothing.
REPLIES = {
    ("mcq_direct", "json"): 3,
    ("mcq_fenced", "fenced_json"): 3,
    ("mcq_braces", "embedded_json"): 3,
    ("mcq_badjson", "json"): 1,
    ("mcq_badjson", "fenced_json"): 1,
    ("mcq_badjson", None): 1,
}
# The replies do not come with their questions, which had up to 27 choices.
CHOICES = tuple(
    AnswerChoice(name, f"text {name}") for name in (*string.ascii_uppercase, "CHOICE_26")
)


@pytest.fixture
def folder(conformance: Path) -> Path:
    return conformance / "legal"


@pytest.fixture
def sample(folder: Path) -> tuple[Dataset, list[Finding]]:
    return read_dataset(DiskWorkspace(folder), folder / SAMPLE)


@pytest.fixture
def replies(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "real_model_outputs.jsonl").read_text(encoding="utf-8").splitlines()
    return [reply for line in lines if (reply := json.loads(line))["stage"] == "candidate"]


def test_every_row_of_the_sample_is_valid(folder: Path) -> None:
    options = ValidateOptions(strict=True)
    (report,) = validate(DiskWorkspace(folder), [str(folder / SAMPLE)], options).files

    assert (report.contract, report.total, report.accepted) == ("legal_eval", 8, 8)
    assert report.findings == (MISSING,)


def test_the_rows_of_the_sample_become_cases(sample: tuple[Dataset, list[Finding]]) -> None:
    cases = sample[0].cases

    assert Counter(case.task_type for case in cases) == {
        "rubric_qa": 2,
        "mcq": 4,
        "reference_qa": 2,
    }
    assert [len(case.input_messages) for case in cases] == [1] * 8
    assert sum(len(case.criteria) for case in cases) > 10
    assert all(set(case.correct_choice_ids) <= {one.id for one in case.choices} for case in cases)


def test_the_rows_of_the_sample_come_back(
    folder: Path, sample: tuple[Dataset, list[Finding]]
) -> None:
    rows = [json.loads(line) for line in (folder / SAMPLE).read_bytes().splitlines()]
    written = [case_row(case) for case in sample[0].cases]

    # A conversation that is the prompt alone is not written twice, nor is an empty text.
    assert [_trimmed(row) for row in rows] == [_trimmed(row) for row in written]


def _trimmed(row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if value != ""}
    if [message["content"] for message in kept.get("messages", [])] == [kept["prompt"]]:
        del kept["messages"]
    return kept


def test_each_row_is_asked_by_the_policy_that_it_names(
    sample: tuple[Dataset, list[Finding]],
) -> None:
    policies = built_in_policies()

    for case in sample[0].cases:
        policy = policies.of(case)
        asked = policy_messages(case, policy)[-1].text
        assert policy.id == case.metadata["policy_id"]
        assert case.input_messages[-1].text.strip() in asked
        assert all(f"{choice.id}. {choice.text}" in asked for choice in case.choices)


def test_the_replies_to_multiple_choice_questions_are_read(replies: list[dict[str, Any]]) -> None:
    reader = ChoiceReader(CHOICES)
    read = Counter((reply["shape"], reader.read(reply["text"]).rule) for reply in replies)

    assert read == REPLIES


def test_a_reply_selects_what_its_json_says(replies: list[dict[str, Any]]) -> None:
    reader = ChoiceReader(CHOICES)
    said = [reader.read(reply["text"]) for reply in replies]
    selected = [found.ids for found in said if found != Selection()]

    assert sorted(selected) == sorted(
        [(name,) for name in ["A", "A", "B", "B", "CHOICE_26", "G", "I", "J", "J", "O", "X"]]
    )


@pytest.mark.parametrize("name", ["A", "C"])
def test_a_case_of_the_sample_is_graded(sample: tuple[Dataset, list[Finding]], name: str) -> None:
    case = next(case for case in sample[0].cases if case.task_type == "mcq")

    assert _selected(case, f"The answer is {name}.") == (name,)
    assert case.correct_choice_ids == ("C",)


def _selected(case: Case, answer: str) -> tuple[str, ...]:
    return ChoiceReader(case.choices).read(answer).ids
