"""The page on artifacts has the fields that a run writes, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.failures import FAILURE_STATUSES

PAGE = Path(__file__).parents[3].joinpath("docs", "artifacts.md").read_text(encoding="utf-8")
PARTS = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
SECTIONS = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))
METRICS = "`metrics_summary.json` and `metrics_by_slice.json`"
TITLES = {
    **{name: f"`{name}`" for name in ARTIFACTS},
    **dict.fromkeys(("metrics_summary.json", "metrics_by_slice.json"), METRICS),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one record that passes and one that is invalid."""
    project = Project(tmp_path_factory.mktemp("page"))
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a"), {"id": "b"}]))
    project.close()
    return Path(run.folder)


def first_column(name: str, heading: str = "field") -> set[str]:
    found = re.search(
        rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", SECTIONS[TITLES[name]], re.MULTILINE
    )
    assert found
    return {
        field
        for line in found[1].splitlines()
        for field in re.findall("`([^`]+)`", line.split("|")[1])
    }


def written(folder: Path, name: str) -> dict[str, Any]:
    text = (folder / name).read_text(encoding="utf-8")
    return json.loads(text.splitlines()[0] if name.endswith("l") else text)


def test_every_artifact_has_its_section() -> None:
    assert set(SECTIONS) == set(TITLES.values())


@pytest.mark.parametrize(
    "name",
    [name for name in ARTIFACTS if name not in {"input_dataset.json", "metrics_by_slice.json"}],
)
def test_a_section_has_every_field_of_its_file(folder: Path, name: str) -> None:
    assert first_column(name) == set(written(folder, name))


def test_every_status_of_a_failure_has_its_labels() -> None:
    assert first_column("failures.jsonl", "status") == FAILURE_STATUSES
