"""Writing evals files, and reading back what was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from steelyard.contracts.evals_json.writer import write_evals_json
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.effort import examples
from strategies.evals_files import FILES, entry, evals_file, opened, read_dataset, read_rows

FULL = evals_file(
    entry(
        expected_output="Où ?",
        expectations=["ici"],
        mode="recipe",
        must_contain_any=["a"],
        must_not_contain=["b", "c"],
        check_php_lint=True,
        check_markdown_structure={"min_headings": 1, "no_h1": True, "our_own": {"x": 1}},
    ),
    entry(id="two"),
    skill_file="skills/a/SKILL.md",
    licence=["MIT"],
)


@settings(max_examples=examples(300))
@given(FILES)
def test_what_was_read_is_written_so_that_it_reads_the_same(value: JsonObject) -> None:
    """EJ-19"""
    dataset = read_dataset(value)
    data = write_evals_json(dataset)

    assert all(row.is_accepted for row in opened(value).rows())
    assert read_dataset(data) == dataset
    assert write_evals_json(read_dataset(data)) == data


def test_every_field_is_written_back() -> None:
    """EJ-09, EJ-19"""
    assert json.loads(write_evals_json(read_dataset(FULL))) == FULL


def test_what_demands_nothing_is_left_out() -> None:
    """EJ-14, EJ-19"""
    empty = entry(must_contain_any=[], check_php_lint=False, check_markdown_structure={})

    assert json.loads(write_evals_json(read_dataset(evals_file(empty)))) == evals_file(entry())


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (1, 1),
        ("1", 1),
        (-7, -7),
        ("01", "01"),
        ("-0", "-0"),
        ("١", "١"),
        (10**14, 10**14),
        (10**15, "1000000000000000"),
        ("1\n", "1\n"),
    ],
)
def test_an_id_that_is_a_whole_number_is_written_as_one(
    read: JsonValue, written: JsonValue
) -> None:
    """EJ-05"""
    document = json.loads(write_evals_json(read_dataset(evals_file(entry(id=read)))))

    assert document["evals"][0]["id"] == written


def test_the_file_is_written_for_people() -> None:
    data = write_evals_json(read_dataset(evals_file(entry(prompt="Où ?"))))

    assert data.decode("utf-8").splitlines()[1] == '  "skill_name": "services",'
    assert "Où ?".encode() in data
    assert data.endswith(b"}\n")
    assert read_rows(data)[0].findings == ()
