"""Retention of the audit log."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fakes.audit import an_entry
from steelyard.project import open_project

Command = Callable[..., subprocess.CompletedProcess[str]]
NOW = datetime.now(UTC)  # noqa: TID251 - the command takes the clock of the machine


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ("", ["change", "change"]),
        ("retention: {audit_days: 200}", ["prune_audit_log", "change"]),
        ("retention: {audit_days: 500}", ["change", "change"]),
    ],
    ids=["for good", "past", "not yet"],
)
def test_entries_of_the_audit_log_go_when_the_project_file_says_so(
    tmp_path: Path, steelyard: Command, settings: str, left: list[str]
) -> None:
    (tmp_path / "steelyard.yaml").write_text(settings, encoding="utf-8")
    with open_project(tmp_path) as project:
        for days in (300, 100):
            project.audit_log.add(an_entry((NOW - timedelta(days=days)).isoformat()))

    shown = steelyard("prune", cwd=tmp_path)
    done = steelyard("prune", "--yes", cwd=tmp_path)

    with open_project(tmp_path) as project:
        found = project.audit_log.list(10)
    assert (shown.returncode, done.returncode) == (0, 0)
    assert [entry.verb for entry in found] == left
    assert [entry.sequence for entry in found] == sorted(
        {entry.sequence for entry in found}, reverse=True
    )


def test_the_audit_log_is_kept_for_half_a_year_at_least(
    tmp_path: Path, steelyard: Command
) -> None:
    (tmp_path / "steelyard.yaml").write_text("retention: {audit_days: 179}", encoding="utf-8")

    done = steelyard("prune", cwd=tmp_path)

    assert done.returncode == 2
    assert "retention.audit_days must be at least 180" in done.stderr
