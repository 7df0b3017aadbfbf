"""A new field of a prediction is one change of the struct and one where it is filled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.results.predictions import Prediction, prediction_of
from steelyard.store.runs import result_rows
from steelyard.usecases.results import folder_records, read_run
from steelyard.usecases.results.exports.rows import export_jsonl
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.read_run import read_predictions
from steelyard.usecases.results.records import show_record

if TYPE_CHECKING:
    import pytest


class Later(Prediction, frozen=True, kw_only=True):
    """A prediction as a later version may have it."""

    carbon_g: float | None = None


def later_of(*given: Any, **more: Any) -> Later:
    known = structs.asdict(prediction_of(*given, **more))
    return Later(**known, carbon_g=2.5)


def test_it_comes_from_where_it_is_filled_to_everybody_who_shows_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_rows, "prediction_of", later_of)
    for module in (read_run, folder_records):
        monkeypatch.setattr(module, "read_prediction", msgspec.json.Decoder(Later).decode)
    project = Project(tmp_path)
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a"), row("b")]))
    project.close()
    folder = Path(run.folder)
    sealed = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    exported = list(export_jsonl(read_predictions(folder)))

    assert [json.loads(line)["carbon_g"] for line in sealed] == [2.5, 2.5]
    assert [json.loads(line)["carbon_g"] for line in exported] == [2.5, 2.5]
    shown = show_record(FolderRecords(folder), "a").rows
    assert [found.json()["carbon_g"] for found in shown] == [2.5]
    assert json.loads(sealed[0])["evaluator_scores"]
