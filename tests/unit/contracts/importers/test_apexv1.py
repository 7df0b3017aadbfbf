"""APEX rows: criteria by what they demand, attachments, no weights."""

from __future__ import annotations

import pytest

from fakes.benchmark_rows import apexv1
from steelyard.contracts.importers.apexv1 import import_apexv1
from steelyard.errors import ParseError
from steelyard.model.json_value import JsonValue


def test_the_title_of_a_criterion_is_what_it_demands_and_not_its_justification() -> None:
    (row,) = import_apexv1(apexv1())

    assert row["rubric"] == [
        {
            "id": "criterion 1",
            "title": "States the rule.",
            "metadata": {
                "objective": "Primary objective(s)",
                "justification": "The expert's own words.",
            },
        },
        {"id": "criterion 2", "title": "Applies it."},
    ]


def test_attachments_are_split_by_line_and_typed_by_their_ending() -> None:
    (row,) = import_apexv1(apexv1())

    assert row["attachments"] == [
        {"path": "documents/7/Lease.PDF", "kind": "pdf"},
        {"path": "documents/7/notes"},
    ]


@pytest.mark.parametrize(("value", "count"), [(None, 0), ("", 0), (["a.pdf", " "], 1), (7, 0)])
def test_attachments_may_be_absent_or_a_list(value: JsonValue, count: int) -> None:
    (row,) = import_apexv1(apexv1(**{"File Attachments": value}))
    attachments = row.get("attachments", [])

    assert isinstance(attachments, list)
    assert len(attachments) == count


@pytest.mark.parametrize("task", [7, 7.0, "7"])
def test_the_id_is_the_same_however_a_table_writes_the_number(task: JsonValue) -> None:
    (row,) = import_apexv1(apexv1(task))

    assert row["id"] == "apexv1:7"


def test_domain_and_further_columns_are_kept() -> None:
    (row,) = import_apexv1(apexv1(Domain=None, Level="hard"))

    assert row["metadata"] == {
        "Level": "hard",
        "policy_id": "apexv1_extended_v1",
        "source_id": "7",
    }


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "column 'Rubric JSON' must hold an object of criteria"),
        ("{}", "must hold an object of criteria"),
        ("{nonsense", "column 'Rubric JSON' holds no JSON"),
        ({"criterion 1": 7}, "'criterion 1' of 'Rubric JSON' must be an object"),
        ({"criterion 1": {"description": " "}}, "must have a description"),
    ],
)
def test_a_wrong_rubric_is_refused(value: JsonValue, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        import_apexv1(apexv1(**{"Rubric JSON": value}))
