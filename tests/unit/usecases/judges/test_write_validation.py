"""A validation goes into the judge's own file, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.definitions import DefinitionProject
from fakes.validations import a_validation
from steelyard.contracts.judge.validation import file_claim
from steelyard.errors import RequestError
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.judge import Judge
from steelyard.usecases.judges.write_validation import writing_of
from steelyard.usecases.registry.load_definition import load_judge

FOUND = a_validation(judge="judge/tone@1.0.0", applicable_to=("fees",))


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    """A project without judges."""
    return DefinitionProject(tmp_path.resolve())


@pytest.mark.parametrize("by", ["judge/tone@1.0.0", "tone", "path"])
def test_the_file_says_it_and_stays_what_it_was(project: DefinitionProject, by: str) -> None:
    path = project.judge("tone@1.0.0", "# mine\nvalidation: {tpr: 0.1}\n")
    named = str(path) if by == "path" else by
    references = project.references
    writing = writing_of(references, load_judge(references, named), named)
    path.write_bytes(writing.with_validation(FOUND))
    judge = load_judge(project.references, named)

    assert "# mine\n" in path.read_text(encoding="utf-8")
    assert judge.applicable_to == ("fees",)
    claim = file_claim(judge)
    assert claim
    assert (claim.sample_size, claim.fingerprints) == (150, FOUND.fingerprints)


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_what_the_author_wrote_stays(project: DefinitionProject, ending: str) -> None:
    row: Any = {
        "id": "tone",
        "version": "1.0.0",
        "template": "{{ output }}",
        "validation": {"tpr": 0.1, "notes": "by the desk", "counts": {"tp": 1}},
        "applicable_to": ["fees", "loans"],
    }
    path = project.root / f"judges/tone.{ending}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(json.dumps(row).encode() if ending == "json" else write_yaml(row))
    references = project.references
    writing = writing_of(references, load_judge(references, "tone"), "tone")
    path.write_bytes(writing.with_validation(FOUND))
    judge = load_judge(project.references, "tone")

    assert judge.applicable_to == ("fees", "loans")
    assert judge.validation
    assert (judge.validation.tpr, judge.validation.extra["notes"]) == (0.9, "by the desk")
    assert judge.validation.extra["counts"] == {"tp": 90, "fn": 10, "tn": 40, "fp": 10}


def test_a_scope_that_is_not_known_is_left_as_it_is(project: DefinitionProject) -> None:
    path = project.judge("tone@1.0.0", "applicable_to: [faq]\n")
    references = project.references
    writing = writing_of(references, load_judge(references, "tone"), "tone")
    path.write_bytes(writing.with_validation(a_validation()))

    assert load_judge(project.references, "tone").applicable_to == ("faq",)


def test_json_is_written_as_json(project: DefinitionProject) -> None:
    row = {"id": "tone", "version": "1.0.0", "template": "{{ output }}", "owner": "ü"}
    path = project.write("judges/tone.json", json.dumps(row))
    references = project.references
    writing = writing_of(references, load_judge(references, "tone"), "tone")
    made = json.loads(writing.with_validation(FOUND))

    assert path.suffix == ".json"
    assert {name: made[name] for name in row} == row
    assert made["validation"]["sample_size"] == 150


def test_a_file_in_one_line_is_refused(project: DefinitionProject) -> None:
    project.write("judges/tone.yaml", '{id: tone, version: 1.0.0, template: "{{ output }}"}\n')
    references = project.references
    writing = writing_of(references, load_judge(references, "tone"), "tone")

    with pytest.raises(RequestError, match="cannot be edited in place"):
        writing.with_validation(FOUND)


def test_a_judge_without_a_file_is_refused(project: DefinitionProject) -> None:
    references = project.references
    accuracy = load_judge(references, "judge/accuracy@1.0.0")

    with pytest.raises(RequestError, match=r"copy it to judges/accuracy\.yaml"):
        writing_of(references, accuracy, "judge/accuracy@1.0.0")


def test_a_judge_made_in_code_has_no_file(project: DefinitionProject) -> None:
    odd = Judge(id="Not an id", version="?", template="")

    with pytest.raises(RequestError, match="has no file of its own"):
        writing_of(project.references, odd, "judge/odd")


def test_a_rubric_holds_no_validation(project: DefinitionProject) -> None:
    with pytest.raises(RequestError, match=r"rubric/panel@1\.0 is a rubric"):
        writing_of(project.references, None, "rubric/panel@1.0")
