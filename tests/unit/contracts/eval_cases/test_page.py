"""The page about eval cases: its examples are valid and its tables are complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from steelyard.contracts.schemas import load_schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_folder import EvalFolder, row

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "contracts" / "eval_cases.md").read_text(encoding="utf-8")
FENCED = re.findall(r"^```(yaml|jsonl)\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCHEMA = load_schema("eval_cases")
EXAMPLES = {"helpdesk.yaml": 3, "support.jsonl": 3}


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    made = EvalFolder(tmp_path)
    made.write("steelyard.yaml", 'guideline_patterns: ["*.instructions.md"]\n')
    made.write("judge.md", "Judge {{ candidate_answer }}.\n")
    made.write("python.instructions.md", "Use type hints.\n")
    return made


def is_sidecar(value: JsonValue) -> bool:
    return isinstance(value, dict) and not {"evalcases", "tests"} & value.keys()


@pytest.mark.parametrize(("language", "text"), FENCED, ids=range(len(FENCED)))
def test_an_example_of_the_page_is_valid(folder: EvalFolder, language: str, text: str) -> None:
    name = f"example.{language}"
    value: JsonValue = parse_yaml(text.encode()).value if language == "yaml" else None
    if isinstance(value, list):
        folder.write(name, {"evalcases": [row(evaluators=value)]})
    else:
        folder.write(name, text)
    if is_sidecar(value):
        folder.write("example.jsonl", [row()])
        name = "example.jsonl"

    assert folder.findings(name) == []
    assert len(folder.load(name)) >= 1


def test_the_page_shows_every_form_of_the_format() -> None:
    values = [parse_yaml(text.encode()).value for language, text in FENCED if language == "yaml"]

    assert "jsonl" in {language for language, _ in FENCED}
    assert any(is_sidecar(value) for value in values)
    assert any(isinstance(value, list) for value in values)


def removed(node: JsonValue) -> Iterator[tuple[str, str]]:
    """Every refused name of the schema with what to write instead."""
    if isinstance(node, list):
        for item in node:
            yield from removed(item)
    if isinstance(node, dict):
        for name, item in node.items():
            if isinstance(item, dict) and "x-instead" in item:
                yield name, cast(str, item["x-instead"])
            yield from removed(item)


@pytest.mark.parametrize(("name", "instead"), sorted(set(removed(SCHEMA))))
def test_a_refused_name_stands_in_the_table(name: str, instead: str) -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line]

    assert any(instead in line.replace("`", "'") for line in rows)


def test_every_evaluator_type_stands_on_the_page() -> None:
    definitions = cast(dict[str, JsonObject], SCHEMA["$defs"])
    types = cast(list[str], definitions["evaluator_kind"]["enum"])
    hyphened = {name for name in types if name.replace("-", "_") in types and "-" in name}

    assert [name for name in types if name not in hyphened and f"`{name}`" not in PAGE] == []


def test_every_pair_of_spellings_stands_on_the_page() -> None:
    pairs = re.findall(r"'x-conflict': \['(\w+)', '(\w+)'\]", str(SCHEMA))
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]

    assert len(pairs) >= 30
    for first, second in pairs:
        assert any(f"`{first}`" in line and f"`{second}`" in line for line in rows)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_file_loads(name: str) -> None:
    folder = EvalFolder(ROOT / "examples" / "eval_cases")

    assert folder.findings(name, strict=True) == []
    assert len(folder.load(name)) == EXAMPLES[name]


def test_the_examples_show_a_guideline_a_file_and_a_prompt() -> None:
    folder = EvalFolder(ROOT / "examples" / "eval_cases")
    cases = [*folder.load("helpdesk.yaml"), *folder.load("support.jsonl")]

    shown = {Path(path).name for case in cases for path in case.file_paths}
    prompts = {evaluator.prompt_path for case in cases for evaluator in case.evaluators}
    assert shown == {"tone.instructions.md", "hours.md"}
    assert [Path(path).name for case in cases for path in case.guideline_paths] == [
        "tone.instructions.md"
    ]
    assert str(folder.root / "judge.md") in prompts
    assert {case.target for case in cases} == {"live", "agent"}
