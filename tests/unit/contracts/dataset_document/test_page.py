"""The page about dataset documents and the examples that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steelyard
from steelyard.contracts.dataset_document.writer import write_dataset_document
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_text import parse_json
from steelyard.formats.schema import Schema
from steelyard.model.finding import RECORD_CODES
from strategies.dataset_documents import opened, read_dataset

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "contracts" / "dataset_document.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples" / "dataset_document").glob("*.json"))


def test_the_example_of_the_page_is_valid() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    reading = opened(example.encode())

    assert reading.findings == ()
    assert [row.findings for row in reading.rows()] == [(), ()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_file_is_valid_and_comes_back_as_it_was(path: Path) -> None:
    dataset, findings = steelyard.read_dataset(path)

    assert list(findings) == []
    assert dataset.cases
    assert read_dataset(write_dataset_document(dataset)) == dataset


def test_the_examples_are_those_that_the_page_names() -> None:
    assert {path.name for path in EXAMPLES} == {"qa.json", "support.json"}
    assert all(f"examples/dataset_document/{path.name}" in PAGE for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_schema_for_editors_accepts_an_example(path: Path) -> None:
    schema = Schema(load_schema("dataset_document"))

    assert schema.problems(parse_json(path.read_bytes())) == []


def test_the_page_explains_the_nine_codes() -> None:
    table = PAGE.partition("## Codes")[2].partition("## Encoding")[0]

    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(RECORD_CODES)
