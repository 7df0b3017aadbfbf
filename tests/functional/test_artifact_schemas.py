"""What runs leave behind is as its published schemas say."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from fakes.contracts import SCHEMAS
from fakes.desk_project import write_desk
from fakes.judged_desk import RUN, drawn, write_judged_desk
from fakes.many_commands import run_many
from steelyard.contracts.published_schemas import ARTIFACTS

DESK = ("run", "datasets/desk.jsonl", "--target", "moody", "--repeat", "2")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of a run with repeats and failures, of its retry, of one that is judged, and of
    one without a valid answer."""
    desk = write_desk(tmp_path_factory.mktemp("desk"))
    judged = tmp_path_factory.mktemp("judged")
    write_judged_desk(judged, drawn(20, 0.7, seed=1))
    mixed = ("run", "datasets/mixed.json", "--target", "agent")
    made = (*run_many(desk, [DESK, ("retry", "latest"), mixed]), *run_many(judged, [RUN]))
    assert [done.code for done in made] == [4, 4, 4, 0]
    return [one for root in (desk, judged) for one in (root / ".steelyard" / "runs").iterdir()]


@pytest.mark.parametrize(("name", "file"), ARTIFACTS.items())
def test_an_artifact_is_as_its_schema_says(folders: list[Path], name: str, file: str) -> None:
    validator = jsonschema_rs.Draft202012Validator(SCHEMAS.published(name))
    rows = [
        json.loads(text)
        for folder in folders
        for text in _texts((folder / file).read_text(encoding="utf-8"), file)
    ]
    unknown = {field for row in rows for field in row} - set(validator_fields(name))

    assert rows
    assert [[error.message for error in validator.iter_errors(row)] for row in rows] == [[]] * len(
        rows
    )
    assert unknown == set()


def validator_fields(name: str) -> list[str]:
    properties = SCHEMAS.published(name)["properties"]
    assert isinstance(properties, dict)
    return list(properties)


def _texts(text: str, file: str) -> list[str]:
    return text.splitlines() if file.endswith(".jsonl") else [text]
