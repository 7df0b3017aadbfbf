"""The page about legal_eval and the examples that it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steelyard
from steelyard.checks.choice_answers import RULES
from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.writer import write_legal_eval
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_text import parse_json
from steelyard.formats.schema import Schema
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from strategies.legal_eval import found_in

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "contracts" / "legal_eval.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples" / "legal_eval").glob("*.jsonl"))


def table(heading: str) -> list[str]:
    """What stands in back-ticks at the start of the rows of a section's table."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)`", section, re.MULTILINE)


def test_the_example_of_the_page_is_valid() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    assert found_in(parse_json(example.encode())) == []


def test_the_policy_of_the_page_is_one() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    space: dict[str, object] = {}
    exec(code, space)

    assert "my_exam_v1" in built_in_policies().with_plugins([space["POLICIES"]]).ids


def test_the_page_lists_every_policy_and_every_rule_of_the_ladder() -> None:
    """LE-32, LE-40"""
    assert sorted(table("Policies")) == list(built_in_policies().ids)
    assert table("How the answer to an `mcq` row is read") == list(RULES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_valid_and_comes_back_as_it_was(path: Path, tmp_path: Path) -> None:
    dataset, findings = steelyard.read_dataset(path)
    again = tmp_path / path.name
    again.write_bytes(write_legal_eval(dataset))
    (tmp_path / "documents").symlink_to(path.parent / "documents")
    (tmp_path / "steelyard.yaml").write_text(
        f"allow: {{folders: [{path.parent}]}}\n", encoding="utf-8"
    )

    assert list(findings) == []
    assert read_dataset(DiskWorkspace(tmp_path), again)[0] == dataset


def test_the_examples_are_those_that_the_page_names() -> None:
    assert [path.name for path in EXAMPLES] == ["choices.jsonl", "questions.jsonl"]
    assert all(f"examples/legal_eval/{path.name}" in PAGE for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_schema_for_editors_accepts_an_example(path: Path) -> None:
    schema = Schema(load_schema("legal_eval"))
    rows = [parse_json(line) for line in path.read_bytes().splitlines()]

    assert [schema.problems(row) for row in rows] == [[]] * len(rows)
