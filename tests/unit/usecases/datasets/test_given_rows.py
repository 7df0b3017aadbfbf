"""Rows in memory are read as a file with those rows."""

from __future__ import annotations

from datetime import date
from importlib import import_module
from typing import Any

import polars as pl
import pytest

from real_parts import require
from steelyard.contracts.catalog import Contracts
from steelyard.contracts.importers.table import TableColumns
from steelyard.errors import InvalidError
from steelyard.model.case import Case
from steelyard.model.finding import Finding
from steelyard.ports import NoFiles
from steelyard.usecases.datasets.given_rows import given_rows, open_rows

QUESTIONS = [
    {"question": "Capital of France?", "answer": "Paris", "asked": date(2026, 1, 2)},
    {"question": "[1] Capital of Peru?", "answer": None, "asked": None},
]
EMPTY = "column 'answer' is empty, so nothing says what is expected"
ANSWERS = {"input": "question", "expected": "answer"}


def read(given: Any, **names: str) -> tuple[list[Case], list[Finding]]:
    """The accepted cases, and everything that was found."""
    rows = given_rows(given, TableColumns(**names))
    reading, _ = open_rows(rows, Contracts(), NoFiles())
    found = list(reading.rows())
    cases = [reading.case(row) for row in found if row.is_accepted]
    return cases, [finding for row in found for finding in row.findings]


@pytest.mark.parametrize("given", [QUESTIONS, pl.DataFrame(QUESTIONS), iter(QUESTIONS)])
def test_named_columns_of_lists_and_frames_make_the_same_cases(given: Any) -> None:
    cases, findings = read(given, **ANSWERS)

    (empty,) = findings
    assert (empty.index, empty.message) == (1, EMPTY)
    assert [case.id for case in cases] == ["row-0001"]
    assert [case.answers for case in cases] == [("Paris",)]
    assert dict(cases[0].metadata) == {"asked": "2026-01-02"}


def test_a_frame_of_pandas_is_read_and_its_missing_values_are_absent() -> None:
    require("pandas")
    frame = import_module("pandas").DataFrame(QUESTIONS)
    cases, findings = read(frame, **ANSWERS)

    assert [finding.message for finding in findings] == [EMPTY]
    assert [case.answers for case in cases] == [("Paris",)]


def test_a_lazy_frame_is_collected() -> None:
    cases, _ = read(pl.DataFrame({"input": ["a"], "expected": ["b"]}).lazy())

    assert cases[0].answers == ("b",)


def test_a_list_without_names_holds_eval_cases_with_their_findings() -> None:
    cases, findings = read([{"id": "a", "input": "Hi", "expected_ouput": "x"}, {"id": "b"}, 5])

    assert [case.id for case in cases] == ["a"]
    assert [(one.code, one.path, one.index, one.line) for one in findings] == [
        ("unknown_field", "[0].expected_ouput", 0, None),
        ("missing_required_field", "[1].input", 1, None),
        ("invalid_field_type", "[2]", 2, None),
    ]
    assert findings[0].hint == "did you mean 'expected_output'?"
    assert findings[2].message == "a row is a dict, not int"


MISSPELT: list[tuple[Any, dict[str, str], str, str]] = [
    ([{"input": "a"}, {"input": "b", "expcted": "c"}], {}, "[1].expcted", "expected_output"),
    ([{"input": "a", "expected": "c"}], {}, "[0].expected", "expected_output"),
    (pl.DataFrame({"input": ["a"], "expcted": ["c"]}), {}, "[0].expcted", "expected"),
    (pl.DataFrame({"q": ["a"], "ID": ["c"]}), {"input": "q"}, "[0].ID", "id"),
    ([{"q": "a", "tag": "c"}], {"input": "q"}, "[0].tag", "tags"),
]


@pytest.mark.parametrize(("given", "names", "path", "meant"), MISSPELT)
def test_a_misspelt_column_is_a_warning(
    given: Any, names: dict[str, str], path: str, meant: str
) -> None:
    cases, (finding,) = read(given, **names)

    assert cases
    assert (finding.severity, finding.code, finding.path) == ("warning", "unknown_field", path)
    assert finding.hint == f"did you mean '{meant}'?"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([{"q": "a", "e": "b", "expcted": "c"}], {"input": "q", "expected": "e"}),
        ([{"q": "a", "pid": 7, "Topic": "c"}], {"input": "q"}),
        ([{"input": "a", "expected_output": "b", "expected": "c"}], {}),
    ],
)
def test_a_column_near_a_field_that_is_filled_is_metadata(
    given: Any, names: dict[str, str]
) -> None:
    assert read(given, **names)[1] == []


def test_the_keys_of_the_first_row_name_another_contract() -> None:
    row = {
        "schema_version": "legal_eval_v1",
        "id": "q",
        "dataset": "d",
        "task_type": "open_qa",
        "prompt": "Hi",
    }
    rows = given_rows([row], TableColumns())

    assert open_rows(rows, Contracts(), NoFiles())[1].name == "legal_eval"


@pytest.mark.parametrize(
    ("given", "names", "message"),
    [
        ([], {}, "there are no rows"),
        (5, {}, "dataset must be a path, .* a list of dicts or a data frame, not int"),
        (QUESTIONS, {}, "are 'question', 'answer', 'asked'; write `input`='question', `expected`"),
        ([{"a": 1}], {}, "the columns are 'a'; name the one to ask with `input`"),
        (QUESTIONS, {"input": "q"}, "`input` names the column 'q', which is not there"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_columns(
    given: Any, names: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidError, match=message):
        read(given, **names)


def test_a_value_that_json_has_no_place_for_spoils_its_row_alone() -> None:
    cases, findings = read([{"input": "a"}, {"input": b"b"}], input="input")

    assert [case.id for case in cases] == ["row-0001"]
    assert findings[0].message == "a cell holds bytes, which JSON has no place for"


def test_messages_of_a_chat_client_become_those_of_a_trace() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    chat = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "One?"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "5"},
        {"role": "user", "content": "And?"},
    ]
    cases, findings = read([{"messages": chat}], input="messages")
    said = cases[0].input_messages

    assert findings == []
    assert [message.role for message in said] == ["system", "user", "assistant", "user"]
    assert said[1].content == "One?"
    assert [(one.tool, one.input, one.output) for one in said[2].tool_calls] == [
        ("add", {"a": 1}, "5")
    ]


@pytest.mark.parametrize("frame", [list, pl.DataFrame])
def test_several_answers_of_a_cell_spoil_their_row_alone(frame: Any) -> None:
    rows = [{"q": "One?", "a": ["A", "B"]}, {"q": "Two?", "a": ["A"]}]
    cases, findings = read(frame(rows), input="q", expected="a")

    assert [(case.id, case.answers) for case in cases] == [("row-0002", ("A",))]
    assert "column 'a' holds a list with 2 answers" in findings[0].message


@pytest.mark.parametrize("text", ['{"k":  1}', "[1,  2]", '[{"role": "user", "content": "Hi"}]'])
def test_a_text_of_a_named_column_is_asked_and_expected_as_it_stands(text: str) -> None:
    cases, _ = read([{"q": text, "a": text}], input="q", expected="a")

    assert cases[0].input_messages[0].text == text
    assert cases[0].answers == (text,)
