"""Comparisons of finished runs, computed once for the API and the pages."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

from steelyard.api.serving import ServedProject
from steelyard.results.artifacts import MANIFEST
from steelyard.usecases.correction.judge_knowledge import judge_knowledge
from steelyard.usecases.results.group_table import GroupTable, group_table
from steelyard.usecases.results.paired_runs import PairedRuns, paired_runs
from steelyard.usecases.results.sealed_files import intact_folder


def compared_runs(served: ServedProject, a: str, b: str) -> PairedRuns:
    """Run B compared with run A by names, as current validations have it."""
    project = served.project
    ports = project.result_ports()
    first, second = (intact_folder(ports, name) for name in (a, b))
    known = judge_knowledge(project.validations.all, project.clock.now())
    key = ("compare", *state_of(served, first), *state_of(served, second))
    return served.results.find(key, lambda: paired_runs(first, second, known))


def grouped_runs(served: ServedProject, names: Sequence[str]) -> GroupTable:
    """Finished runs side by side, with the rates that current validations give them."""
    project = served.project
    ports = project.result_ports()
    folders = [intact_folder(ports, name) for name in names]
    known = judge_knowledge(project.validations.all, project.clock.now())
    key = ("group", *(state_of(served, folder) for folder in folders))
    return served.results.find(key, lambda: group_table(folders, known))


def state_of(served: ServedProject, folder: Path) -> tuple[Hashable, ...]:
    """All that the reading of a finished run depends on: its files, and validations of judges.

    A validation expires by days.
    """
    project = served.project
    seal = project.result_ports().known_digest(folder / MANIFEST)
    validations = tuple(
        (one.judge, one.number, one.validated_at, one.label_set_sha256)
        for one in project.validations.all()
    )
    return folder, seal.sha256, validations, project.clock.now().date()
