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
    from steelyard.usecases.registry.registry import RegistryPorts
    from steelyard.usecases.runs.ports import RunPorts


def registry_ports(near: Path | None = None) -> RegistryPorts:
    """What publishing and looking up need, in the project of a file or of the current folder."""
    from steelyard.store.artifacts import digest_of
    from steelyard.store.registry import project_registry
    from steelyard.usecases.registry.registry import RegistryPorts

    found = wiring.project(near)
    kinds = wiring.catalog(found)
    return RegistryPorts(
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


def run_ports_with(judge: Definition | None, near: Path | None = None) -> RunPorts:
    """The ports of runs in which a judge stands for all versions of itself; None: as they are."""
    from steelyard.store.definitions import DefinitionFolder
    from steelyard.store.registry import project_registry
    from steelyard.usecases.registry.load_definition import load_rubric
    from steelyard.usecases.runs.shift import InsteadOf

    ports = wiring.run_ports(near)
    if judge is None:
        return ports
    folder = DefinitionFolder(ports.root, ports.catalog, project_registry(ports.root))
    known = InsteadOf(folder, ports.clock.now(), judge)

    def rubric(name: str, strict: bool) -> Rubric | QuestionRubric:
        return load_rubric(known, wiring.rooted(ports.root, name), strict=strict)

    return replace(ports, references=known, rubric=rubric)
