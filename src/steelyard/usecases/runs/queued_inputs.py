"""What a queued run keeps of the project, so that a process without the folder can execute it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.errors import InvalidError
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.project_file import write_settings
from steelyard.settings import Settings, TargetEntry
from steelyard.usecases.runs.ports import RunPorts

_AGENTV = ".agentv/config.yaml"


def keep_inputs(
    ports: RunPorts, run_id: str, prepared: Prepared, reads: Mapping[Path, Path]
) -> None:
    """Keep the settings and every file that executing a run reads; its dataset read `reads`."""
    specs = {**prepared.judge_specs, **prepared.specs}
    _require_no_folder(prepared, specs)
    settings = replace(ports.settings, targets=_targets(ports.settings, specs))
    named = {
        path: path for path in _named(ports, prepared, specs) if ports.workspace.is_file(path)
    }
    ports.inputs.keep(run_id, {**named, **reads}, write_settings(settings))


def _require_no_folder(prepared: Prepared, specs: Mapping[str, TargetSpec]) -> None:
    """Refuse what cannot be kept: programs and functions of the project."""
    why = "which a queued run cannot take along; start it with `steelyard run`"
    for spec in specs.values():
        if spec.needs_folder:
            raise InvalidError(f"targets.{spec.name} runs code of the project's folder, {why}")
    if prepared.grading.runs_commands:
        raise InvalidError(f"records are graded by a program of the project's folder, {why}")


def _named(ports: RunPorts, prepared: Prepared, specs: Mapping[str, TargetSpec]) -> Iterator[Path]:
    """Files that are read from elsewhere than the dataset."""
    options, root = prepared.options, ports.root
    yield from (file for spec in specs.values() for file in spec.files)
    yield from (root / name for name in (options.rubric, options.judge) if name)
    for kind in ("rubric", "judge"):
        yield from (Path(one.path) for one in ports.references.known(kind))
    folders = (root / options.dataset).parents
    yield from (folder / _AGENTV for folder in folders if folder.is_relative_to(root))


def _targets(settings: Settings, specs: Mapping[str, TargetSpec]) -> dict[str, TargetEntry]:
    """Every target, since redaction looks for the keys of all; secrets by their names alone."""
    kept: dict[str, TargetEntry] = {}
    for name, entry in settings.targets.items():
        written = list(entry.written_secrets())
        if written and name in specs:
            raise InvalidError(
                f"targets.{name}.{'.'.join(written[0])} is written out in steelyard.yaml, and a "
                "queued run keeps no secrets: name a variable of the environment with ${NAME}"
            )
        extra = dict(entry.extra)
        for holder, secret in written:
            members = entry.object(holder)
            extra[holder] = {key: members[key] for key in members if key != secret}
        kept[name] = replace(entry, extra=extra)
    return kept
