"""Tables: which column fills which field, and what becomes of the others."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.contracts import CONTRACTS, FIELDS
from steelyard.contracts.importers.columns import ColumnMap
from steelyard.errors import ParseError, RequestError
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_cases import json_values


def column_map(contract: str, **names: str) -> ColumnMap:
    return ColumnMap.checked(CONTRACTS[contract], "set", names)


@pytest.mark.parametrize(
    ("contract", "record", "row"),
    [
        (
            "legal_eval",
            {"id": 1, "prompt": "Q", "reference_answers": "A"},
            {
                "schema_version": "legal_eval_v1",
                "id": "1",
                "dataset": "set",
                "task_type": "reference_qa",
                "prompt": "Q",
                "reference_answers": ["A"],
            },
        ),
        (
            "dataset_document",
            {
                "id": "a",
                "prompt": "Q",
                "answer": "A",
                "tags": '["x", "y"]',
                "expected.max_latency_ms": "9",
                "expected.required_criteria": "clarity",
            },
            {
                "record_id": "a",
                "input": {"prompt": "Q"},
                "reference": {"answer": "A"},
                "tags": ["x", "y"],
                "expected": {"max_latency_ms": 9, "required_criteria": ["clarity"]},
            },
        ),
        (
            "question_set",
            {"id": "a", "input": "Q", "expected": '{"format": "json"}', "criteria": "[good"},
            None,
        ),
        (
            "question_set",
            {"id": "a", "input": "Q", "expected": '{"format": "json"}', "expected_facts": "F"},
            {"id": "a", "input": "Q", "expected": {"format": "json"}, "expected_facts": ["F"]},
        ),
        (
            "eval_cases",
            {"id": "a", "input": [{"role": "user", "content": "Q"}], "expected_output": 4},
            {"id": "a", "input": [{"role": "user", "content": "Q"}], "expected_output": "4"},
        ),
        (
            "evals_json",
            {"id": "a", "prompt": "Q", "must_contain_any": ["x"], "check_php_lint": "True"},
            {"id": "a", "prompt": "Q", "must_contain_any": ["x"], "check_php_lint": True},
        ),
    ],
)
def test_columns_with_a_contracts_own_names_fill_its_fields(
    contract: str, record: JsonObject, row: JsonObject | None
) -> None:
    columns = column_map(contract)
    if row is None:
        with pytest.raises(ParseError, match="column 'criteria' holds no JSON"):
            columns.row(record)
        return

    assert columns.row(record) == (row, ())


def test_a_map_takes_columns_of_any_name() -> None:
    names = {"id": "key", "prompt": "question", "metadata.kind": "type"}
    columns = ColumnMap.checked(CONTRACTS["dataset_document"], "set", names)
    row, changes = columns.row({"key": 7, "question": "Q", "type": "t", "prompt": "unused"})

    assert row == {
        "record_id": "7",
        "input": {"prompt": "Q"},
        "metadata": {"kind": "t", "prompt": "unused"},
    }
    assert [(change.field, change.is_lost) for change in changes] == [("prompt", False)]


def test_unknown_columns_are_kept_in_metadata_and_said() -> None:
    row, changes = column_map("question_set").row(
        {"id": "a", "input": "Q", "topic": "t", "level": 2, "metadata": '{"owner": "o"}', "x": ""}
    )

    assert row["metadata"] == {"topic": "t", "level": 2, "owner": "o"}
    assert [change.field for change in changes] == ["topic", "level"]


def test_an_absent_id_is_made_of_the_row() -> None:
    columns = column_map("eval_cases")
    row, changes = columns.row({"input": "Q", "expected_outcome": "O"})
    again, _ = columns.row({"expected_outcome": "O", "input": "Q"})
    other, _ = columns.row({"input": "P", "expected_outcome": "O"})

    assert row["id"] == again["id"] != other["id"]
    assert [(change.field, change.is_lost) for change in changes] == [("id", False)]


@pytest.mark.parametrize(
    ("value", "choices"),
    [
        ('["x", "y"]', [{"id": "A", "text": "x"}, {"id": "B", "text": "y"}]),
        (
            {"label": ["1", "2"], "text": ["x", "y"]},
            [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}],
        ),
        ({"text": ["x", "y"]}, [{"id": "A", "text": "x"}, {"id": "B", "text": "y"}]),
        ([{"id": "k", "text": "x"}], [{"id": "k", "text": "x"}]),
    ],
)
def test_choices_may_be_texts_objects_or_two_lists(value: JsonValue, choices: JsonValue) -> None:
    record: JsonObject = {"id": "a", "prompt": "Q", "choices": value, "correct_choice_ids": "A"}
    row, _ = column_map("legal_eval").row(record)

    assert (row["task_type"], row["choices"], row["correct_choice_ids"]) == ("mcq", choices, ["A"])


@pytest.mark.parametrize(
    ("contract", "record", "told"),
    [
        ("question_set", {"input": [1]}, "column 'input' must hold a text"),
        ("evals_json", {"check_php_lint": "maybe"}, "must hold true or false"),
        ("dataset_document", {"expected.max_latency_ms": 1.5}, "must hold a whole number"),
        ("legal_eval", {"rubric": "{"}, "column 'rubric' holds no JSON"),
    ],
)
def test_a_wrong_cell_is_refused(contract: str, record: JsonObject, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        column_map(contract).row(record)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (["A", "B"], "column 'a' holds a list with 2 answers, .* to legal_eval"),
        ([], "a list with 0 answers"),
        ([4], "a list with 1 answer,"),
        ('["A", "B"]', "the text of a list with 2 answers"),
        ("['A', 'B']", "the text of a list with 2 answers"),
        ({"text": ["A"], "answer_start": [1]}, "column 'a' holds an object"),
    ],
)
def test_several_expected_answers_are_refused_and_never_joined(
    value: JsonValue, told: str
) -> None:
    with pytest.raises(ParseError, match=told):
        column_map("eval_cases", expected="a").row({"input": "Q", "a": value})


def test_the_advice_for_several_answers_keeps_them() -> None:
    columns = column_map("legal_eval", prompt="q", reference_answers="a")

    assert columns.row({"q": "Q", "a": ["A", "B"]}).row["reference_answers"] == ["A", "B"]


def test_a_list_of_one_text_is_one_expected_answer() -> None:
    row, _ = column_map("eval_cases", expected="a").row({"input": "Q", "a": ["A"]})

    assert row["expected_output"] == "A"


@pytest.mark.parametrize("text", ['{"k":  1}', "[1,  2]", "{'k': 1}", " [x", "[]", '[{"a": 1}]'])
def test_a_question_or_answer_that_looks_like_json_is_a_text(text: str) -> None:
    row, _ = column_map("eval_cases").row({"id": "a", "input": text, "expected": text})

    assert row == {"id": "a", "input": text, "expected_output": text}


def test_messages_written_as_json_are_asked_as_messages() -> None:
    row, _ = column_map("eval_cases").row({"id": "a", "input": '[{"role": "user"}]'})

    assert row["input"] == [{"role": "user"}]


def test_a_mapped_column_that_is_not_there_is_named_with_those_that_are() -> None:
    columns = column_map("question_set", input="question")

    with pytest.raises(
        ParseError, match="no column 'question' to map to 'input'; there are 'id', 'q'"
    ):
        columns.row({"id": "a", "q": "Q"})


def test_a_field_that_the_contract_lacks_is_a_usage_error_with_a_hint() -> None:
    with pytest.raises(
        RequestError, match=r"question_set has no field 'imput' \(did you mean 'input'"
    ):
        column_map("question_set", imput="q")


@pytest.mark.parametrize("contract", FIELDS)
@given(data=st.data())
def test_any_table_is_read_or_refused(contract: str, data: st.DataObject) -> None:
    names = st.sampled_from([*FIELDS[contract], "other"])
    record = data.draw(st.dictionaries(names, json_values, max_size=4))

    with suppress(ParseError):
        assert column_map(contract).row(record).row
