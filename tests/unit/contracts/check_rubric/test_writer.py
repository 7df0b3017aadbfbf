"""Writing a check rubric, and reading back what was written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.checks.equals import Equals
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.check_rubric.writer import rubric_row
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck

CORPUS = Path(__file__).parents[3] / "corpus" / "check_rubric" / "valid"
INNER: JsonObject = {"rubric_ref": "rubric/inner@1.0.0"}
FILES = sorted(path for path in CORPUS.iterdir() if path.suffix != ".json")


def read(data: bytes) -> Rubric:
    rubric, findings = read_check_rubric(parse_yaml(data), Catalog())
    assert rubric
    assert findings == []
    return rubric


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_was_read_is_written_so_that_it_reads_the_same(path: Path) -> None:
    """CR-26"""
    rubric = read(path.read_bytes())
    data = write_yaml(rubric_row(rubric))

    assert read(data) == rubric
    assert write_yaml(rubric_row(read(data))) == data


def test_every_setting_of_every_kind_is_written_back() -> None:
    """CR-26"""
    path = CORPUS / "every_kind.yaml"

    assert rubric_row(read(path.read_bytes())) == parse_yaml(path.read_bytes()).value


def test_what_has_its_default_is_left_out() -> None:
    """CR-26"""
    checks = (
        RubricCheck(id="a", check=Equals()),
        RubricCheck(id="b", check=StatedCheck(kind="composite", settings=INNER)),
    )
    rubric = Rubric(id="basic", version="1.0.0", checks=checks)

    assert rubric_row(rubric) == {
        "id": "basic",
        "version": "1.0.0",
        "checks": [{"id": "a", "kind": "equals"}, {"id": "b", "kind": "composite", **INNER}],
        "scoring": {"combine": "weighted_avg"},
    }
    assert read(write_yaml(rubric_row(rubric))) == replace(rubric)
