"""What is written reads back the same."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.eval_cases.reader import (
    EvalCasesJsonl,
    EvalCasesYaml,
    read_sidecar,
)
from steelyard.contracts.eval_cases.spelling import without_evaluators
from steelyard.contracts.eval_cases.writer import (
    write_eval_cases_rows,
    write_eval_cases_yaml,
    write_sidecar,
)
from steelyard.contracts.reading import DatasetReading
from steelyard.errors import RequestError
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from strategies.effort import examples
from strategies.eval_cases import KnownFiles, datasets, filled

CASE = Case(
    id="a",
    dataset="data",
    expected_outcome="Goal",
    input_messages=(Message(role="user", content="Hi"),),
    target="default",
    evaluator="llm_judge",
)


def read(reading: DatasetReading) -> Dataset:
    rows = list(reading.rows())
    found = [*reading.findings, *(finding for row in rows for finding in row.findings)]

    assert [finding for finding in found if finding.is_error] == []
    return reading.dataset(tuple(reading.case(row) for row in rows))


def read_yaml(data: bytes) -> Dataset:
    return read(EvalCasesYaml(parse_yaml(data), "data", files=KnownFiles()))


def read_jsonl(rows: bytes, sidecar: bytes) -> Dataset:
    defaults, findings = read_sidecar(parse_yaml(sidecar), "data", KnownFiles())
    assert not any(finding.is_error for finding in findings)
    return read(EvalCasesJsonl(lambda: BytesIO(rows), defaults, files=KnownFiles()))


@given(datasets(goals=st.just("") | filled).filter(lambda dataset: dataset.cases))
@settings(max_examples=examples(200))
def test_yaml_reads_back_the_same(dataset: Dataset) -> None:
    """EC-60"""
    assert read_yaml(write_eval_cases_yaml(dataset)) == as_written(dataset)


def as_written(dataset: Dataset) -> Dataset:
    """Without the lists of the file where a goal is missing: there they would be added."""
    if all(case.expected_outcome for case in dataset.cases):
        return dataset
    return replace(dataset, extra=without_evaluators(dict(dataset.extra)))


@given(datasets())
@settings(max_examples=examples(200))
def test_jsonl_and_its_sidecar_read_back_the_same(dataset: Dataset) -> None:
    """EC-27, EC-60"""
    assert read_jsonl(write_eval_cases_rows(dataset), write_sidecar(dataset)) == dataset


def test_the_fields_of_a_row_come_in_the_order_of_the_contract() -> None:
    """EC-60"""
    dataset = Dataset(id="data", contract="eval_cases", cases=(CASE,), description="d")
    rows, sidecar = write_eval_cases_rows(dataset), write_sidecar(dataset)

    assert rows.decode() == (
        '{"id": "a", "expected_outcome": "Goal", '
        '"input_messages": [{"role": "user", "content": "Hi"}]}\n'
    )
    assert sidecar.decode() == "description: d\ndataset: data\n"


def test_cases_without_a_goal_are_written_as_tests() -> None:
    """EC-19, EC-60"""
    reply = Message(role="assistant", content="Yes")
    case = Case(
        id="a",
        dataset="data",
        input_messages=CASE.input_messages,
        expected_messages=(reply,),
        target="default",
        evaluator="llm_judge",
    )
    dataset = Dataset(id="data", contract="eval_cases", cases=(case,))

    assert b"\ntests:\n" in write_eval_cases_yaml(dataset)
    with pytest.raises(RequestError, match="case 'a' has no expected_outcome"):
        write_eval_cases_rows(dataset)


def test_what_a_target_or_evaluator_shares_with_its_file_is_not_repeated() -> None:
    """EC-60"""
    header: JsonObject = {"execution": {"target": "live"}, "evaluator": "rubric"}
    targets = [("live", "rubric"), ("default", "rubric"), ("live", "llm_judge"), (None, None)]
    made = tuple(
        Case(
            id=str(number),
            dataset="data",
            expected_outcome="Goal",
            input_messages=CASE.input_messages,
            target=target,
            evaluator=evaluator,
        )
        for number, (target, evaluator) in enumerate(targets)
    )
    rows = write_eval_cases_rows(
        Dataset(id="data", contract="eval_cases", cases=made, extra=header)
    )

    lines = rows.decode().splitlines()
    assert ["target" in line for line in lines] == [False, True, False, False]
    assert ["evaluator" in line for line in lines] == [False, False, True, False]
    assert all(len(one) != len(other) for one, other in pairwise(lines[:3]))
