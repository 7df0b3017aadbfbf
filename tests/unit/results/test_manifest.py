"""The manifest of a run, written and read again, also those of other versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, structs

from fakes.contracts import SCHEMAS
from fakes.manifests import manifest, manifest_row
from fakes.metrics import write_metrics
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.errors import UnreadableFileError
from steelyard.results.manifest import FORMAT_VERSION, Manifest, RunSetup, read_manifest
from steelyard.usecases.results.read_run import manifest_json, read_run

AT_THE_END = {
    *("started_at", "judges", "harness", "environment"),
    *("redaction", "artifacts", "manifest_sha256"),
}
"""What the published schema requires, and a run that has not ended does not know."""
OLDER: dict[str, Any] = {
    "judges": [{"judge": "judge/polite@1.0.0", "target": "default"}],
    "rubrics": [{"rubric": "rubric/a@1.0.0", "sha256": "ab", "combine": "weighted_avg"}],
    "retry": {"max_attempts": 3, "backoff_s": [2, 6.5], "jitter": 0},
}
"""As earlier versions have written it."""


@pytest.fixture
def folder(project: Project) -> Path:
    dataset = project.cases([row("a"), row("b")])
    return Path(project.run(project.ports(ScriptedTarget()), dataset).folder)


def test_what_is_written_is_read_again(folder: Path) -> None:
    data = (folder / "run_manifest.json").read_bytes()
    found = read_manifest(data)

    assert json.dumps(found.json()) == json.dumps(json.loads(data))
    assert found.setup.options.dataset == Path("d.jsonl")
    assert found.artifacts
    assert found.artifacts["predictions.jsonl"].size == (
        (folder / "predictions.jsonl").stat().st_size
    )


def test_the_published_schema_has_the_same_fields() -> None:
    schema: Any = SCHEMAS.published("run_manifest")
    fields = [*structs.fields(Manifest), *structs.fields(RunSetup)]
    required = {field.name for field in fields if field.required} - {"setup"}

    assert set(schema["properties"]) == {field.name for field in fields} - {"setup"}
    assert set(schema["required"]) == required | AT_THE_END


@pytest.mark.parametrize("changes", [{}, OLDER])
def test_a_run_of_an_earlier_version_lacks_newer_fields(changes: dict[str, Any]) -> None:
    found = manifest(**changes)

    assert found.format_version == 1
    assert (found.setup.policies, found.setup.graders, found.interruptions) == (UNSET,) * 3
    assert (found.setup.options.repeat, found.setup.options.cluster) == (1, None)
    written = found.json()
    assert "policies" not in written
    assert {name: written[name] for name in changes} == changes


def test_what_an_earlier_version_has_hidden_is_empty() -> None:
    found = manifest(source="[redacted:source]", programs="[redacted:programs]")

    assert (found.setup.source, found.setup.programs) == ({}, ())


def test_a_run_of_a_later_version_has_fields_that_are_not_known() -> None:
    later = manifest(carbon={"grams": 3}, rubrics=[{"rubric": "rubric/a@1.0.0", "colour": "red"}])

    assert later == manifest(rubrics=[{"rubric": "rubric/a@1.0.0"}])


def test_a_manifest_is_shown_as_it_was_written(tmp_path: Path) -> None:
    written = manifest_row(carbon={"grams": 3})
    (tmp_path / "run_manifest.json").write_text(json.dumps(written), encoding="utf-8")

    assert manifest_json(tmp_path) == written


def test_a_format_of_a_later_version_is_refused() -> None:
    with pytest.raises(UnreadableFileError) as told:
        manifest(format_version=FORMAT_VERSION + 1, status="paused")

    assert str(told.value) == (
        "run_01 has artifacts of format 2, and this version of Steelyard reads format 1; "
        "install a newer one"
    )


def test_paths_and_texts_may_be_of_any_bytes() -> None:
    against: dict[str, Any] = {
        "run_id": "run_b",
        "folder": "r/\udcff",
        "titles": ["a", "\ud800"],
        "left_out": {},
    }
    derived: dict[str, Any] = {
        "run_id": "run_a",
        "how": "pairwise",
        "folder": "\udcfe",
        "against": against,
    }
    found = manifest(derived_from=derived, options={"dataset": "\udcff.json"})

    assert found.setup.options.dataset == Path("\udcff.json")
    assert found.json()["derived_from"] == derived
    assert found.setup.derived_from
    assert [str(one) for one in found.setup.derived_from.folders] == ["\udcfe", "r/\udcff"]


def test_numbers_stay_as_they_are() -> None:
    found = manifest(temperature=1, seed=10**30, top_p=0.5)

    assert json.dumps(found.json()["temperature"]) == "1"
    assert found.setup.seed == 10**30


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        json.dumps(manifest_row(status=None)).encode(),
        json.dumps({**manifest_row(), "options": []}).encode(),
        json.dumps(manifest_row(options={"dataset": 3})).encode(),
        json.dumps(manifest_row(derived_from={"how": "retry"})).encode(),
    ],
)
def test_a_damaged_manifest_is_told_with_the_remedy(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / "run_manifest.json").write_bytes(damaged)
    write_metrics(tmp_path)

    with pytest.raises(
        UnreadableFileError, match=r"run_manifest\.json is damaged; `steelyard verify` says how"
    ):
        read_run(tmp_path)
