"""Joins the use cases of the registry with their adapters, as `wiring` does for the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard import wiring

if TYPE_CHECKING:
    from steelyard.model.definition import Definition
    from steelyard.model.question import QuestionRubric
    from steelyard.model.rubric import Rubric
    from steelyard.usecases.registry import RegistryDoor
    from steelyard.usecases.run_ports import RunDoor


def registry_door(near: Path | None = None) -> RegistryDoor:
    """What publishing and looking up need, in the project of a file or of the current folder."""
    from steelyard.store.artifacts import digest_of
    from steelyard.store.registry import project_registry
    from steelyard.usecases.registry import RegistryDoor

    found = wiring.project(near)
    kinds = wiring.catalog(found)
    return RegistryDoor(
        workspace=wiring.workspace(),
        root=found.root,
        settings=found.settings,
        registry=project_registry(found.root),
        references=wiring.references(found.root, kinds),
        catalog=kinds,
        policies=wiring.policies(),
        clock=wiring.system_clock(),
        digest=lambda path: digest_of(path).sha256,
    )


def run_door_with(judge: Definition | None, near: Path | None = None) -> RunDoor:
    """A door to runs in which a judge stands for all versions of itself; None: as they are."""
    from steelyard.store.definitions import DefinitionFolder
    from steelyard.store.registry import project_registry
    from steelyard.usecases.load_definition import load_rubric
    from steelyard.usecases.shift import InsteadOf

    door = wiring.run_door(near)
    if judge is None:
        return door
    folder = DefinitionFolder(door.root, door.catalog, project_registry(door.root))
    known = InsteadOf(folder, door.clock.now(), judge)

    def rubric(name: str, strict: bool) -> Rubric | QuestionRubric:
        return load_rubric(known, wiring.rooted(door.root, name), strict=strict)

    return replace(door, references=known, rubric=rubric)
