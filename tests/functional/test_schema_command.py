"""`steelyard schema`, started as a user starts it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import jsonschema_rs
import pytest

from fakes.contracts import SCHEMAS
from steelyard.formats.yaml_text import parse_yaml

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


def test_without_a_name_the_schemas_are_listed(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("schema", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.split()[0] for line in done.stdout.partition("\n\n")[0].splitlines()]
    assert listed == [*SCHEMAS.names]
    assert "# yaml-language-server: $schema=" in done.stdout


@pytest.mark.parametrize("name", ["eval_cases", "trace.schema.json", "rubric", "dataset"])
def test_a_name_prints_that_schema_as_it_is_published(
    steelyard: Steelyard, tmp_path: Path, name: str
) -> None:
    done = steelyard("schema", name, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.encode() == SCHEMAS.as_file(name.removesuffix(".schema.json"))


@pytest.mark.parametrize(
    ("name", "output", "written"),
    [
        ("trace", "here/my.json", "here/my.json"),
        ("trace", ".", "trace.schema.json"),
        ("trace.schema.json", ".", "trace.schema.json"),
    ],
)
def test_a_schema_is_written_to_a_file_or_into_a_folder(
    steelyard: Steelyard, tmp_path: Path, name: str, output: str, written: str
) -> None:
    done = steelyard("schema", name, "-o", output, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, f"wrote {written}\n")
    assert (tmp_path / written).read_bytes() == SCHEMAS.as_file("trace")


def test_without_a_name_all_schemas_are_written(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("schema", "--output", "schemas", cwd=tmp_path)

    assert done.returncode == 0
    files = sorted((tmp_path / "schemas").iterdir())
    assert {path.name for path in files} == {f"{name}.schema.json" for name in SCHEMAS.names}
    assert all(json.loads(path.read_bytes())["$id"].endswith(path.name) for path in files)


CHECKS = "id: a\nversion: 1.0.0\nscoring: {combine: all_pass}\nchecks: [{id: c, %s}]\n"
JURY = "kind: llm_judge, jury: {judges: [{judge_prompt_ref: judge/x@1.0, weight: 0}]}"
QUESTIONS = "name: a\nversion: a\nquestions: [{key: k, label: K, type: yes_no}]\n%s"
JUDGE = "id: a\nversion: 1.0.0\ntemplate: '{{ output }}'\nvalidation: {validated_at: %s}\n"
CHOICES = [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}]
MCQ = {
    "schema_version": "legal_eval_v1",
    "id": "a",
    "dataset": "d",
    "task_type": "mcq",
    "prompt": "?",
    "choices": CHOICES,
}
REFUSED = {
    "check_rubric": (
        CHECKS % 'kind: fact_match, facts: [" "]',
        CHECKS % 'kind: markdown_structure, forbidden_patterns: [""]',
        CHECKS % 'kind: markdown_structure, required_sections: [""]',
        CHECKS % 'kind: starts_with, value: " "',
        CHECKS % 'kind: ends_with, value: " "',
        CHECKS % JURY,
    ),
    "question_rubric": (QUESTIONS % "scoring: {questions: {k: 0}}\n",),
    "judge": (JUDGE % '"2026-01-15T10:00:00+99:00"',),
    "legal_eval": (json.dumps({**MCQ, "correct_choice_ids": ["A", "A"]}),),
}


def test_a_schema_refuses_what_validate_refuses(steelyard: Steelyard, tmp_path: Path) -> None:
    names: list[str] = []
    for contract, texts in REFUSED.items():
        validator = jsonschema_rs.Draft202012Validator(json.loads(SCHEMAS.as_file(contract)))
        for number, text in enumerate(texts):
            ending = "jsonl" if contract == "legal_eval" else "yaml"
            names.append(f"{contract}{number}.{ending}")
            (tmp_path / names[-1]).write_text(text, encoding="utf-8")
            assert not validator.is_valid(parse_yaml(text.encode()).value), text
    done = steelyard("validate", *names, "--format", "json", cwd=tmp_path)
    files = json.loads(done.stdout)["files"]

    assert [file["path"] for file in files if file["rejected"] != 1] == []
    assert len(files) == len(names)


def test_all_schemas_can_be_added_to_one_validator(steelyard: Steelyard, tmp_path: Path) -> None:
    """Ajv refuses an `$id` that another schema has already."""
    steelyard("schema", "-o", ".", cwd=tmp_path)
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.schema.json")]
    addresses = [address for text in texts for address in re.findall(r'"\$id": "([^"]*)"', text)]

    assert len(addresses) == len(texts) == len(set(addresses))


def test_an_unknown_name_is_wrong_usage(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("schema", "nonsense", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("steelyard: unknown schema 'nonsense'; known schemas: ")


def test_a_place_that_cannot_be_written_is_wrong_usage(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = steelyard("schema", "-o", "file", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("steelyard: cannot write file/")
