"""Comparisons are kept by all that they depend on."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.served_runs import make_runs
from fakes.validations import a_validation
from steelyard.api.compared_runs import compared_runs, grouped_runs
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.errors import ConflictError
from steelyard.project import open_project


def test_a_comparison_is_kept_until_a_validation_or_a_file_changes(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    with open_project(tmp_path) as project:
        served = ServedProject(project=project, settings=ServerSettings())
        first = compared_runs(served, runs.done, runs.repeated)
        group = grouped_runs(served, [runs.done, runs.repeated])

        assert compared_runs(served, runs.done, runs.repeated) is first
        assert compared_runs(served, runs.repeated, runs.done) is not first
        assert grouped_runs(served, [runs.done, runs.repeated]) is group

        project.validations.add(a_validation())
        assert compared_runs(served, runs.done, runs.repeated) is not first

        path = first.folders[0] / "predictions.jsonl"
        path.chmod(0o600)
        path.write_bytes(path.read_bytes().replace(b"yes", b"yep", 1))
        with pytest.raises(ConflictError, match=r"predictions\.jsonl .* is not what was sealed"):
            compared_runs(served, runs.done, runs.repeated)
