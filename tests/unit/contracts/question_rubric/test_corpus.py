"""Every rubric of the corpus gives exactly the findings that are written beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import jsonschema_rs
import pytest

from steelyard.contracts.schemas import load_schema
from steelyard.formats.encoding import without_bom
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.question import Question, Scale
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.open_dataset import open_dataset
from strategies.question_rubrics import sound

CORPUS = Path(__file__).parents[3] / "corpus" / "question_rubric"
VALID = sorted((CORPUS / "valid").iterdir())
INVALID = sorted(
    path for path in (CORPUS / "invalid").iterdir() if not path.name.endswith(".findings.json")
)
PUBLISHED = jsonschema_rs.Draft202012Validator(load_schema("question_rubric"))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_a_valid_rubric_is_read(path: Path) -> None:
    """QR-01, QR-15, QR-18"""
    opened = open_dataset(DiskWorkspace(CORPUS), path)
    value = parse_yaml(without_bom(path.read_bytes())).value

    assert (opened.contract, opened.is_single, opened.findings) == ("question_rubric", True, ())
    assert sound(value).version == path.stem
    assert PUBLISHED.is_valid(value)


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_rubric_gives_exactly_these_findings(path: Path) -> None:
    """QR-01, QR-02, QR-03, QR-04, QR-05, QR-06, QR-07, QR-08, QR-09, QR-10, QR-11, QR-12,
    QR-13, QR-14, QR-15, QR-16, QR-17"""
    expected = json.loads(path.with_suffix(".findings.json").read_text(encoding="utf-8"))
    opened = open_dataset(DiskWorkspace(CORPUS), path, "question_rubric")

    assert opened.contract == "question_rubric"
    assert [asdict(finding) for finding in opened.findings] == expected


def test_dimensions_become_questions() -> None:
    """QR-13"""
    path = CORPUS / "valid" / "legacy.yml"
    questions = sound(parse_yaml(path.read_bytes()).value).questions

    assert questions[1] == Question(
        key="tone_clarte",
        label="Tone & Clarté",
        type="score",
        scope="trace",
        required=False,
        answered_by_auto=True,
        scale=Scale(min=0, max=5),
    )
    assert [question.key for question in questions] == [
        *("correctness", "tone_clarte", "3rd_party_sources", "strasse", "strassen"),
    ]
