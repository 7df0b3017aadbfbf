"""What a queued run keeps of the project, so that a process without the folder can execute it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from steelyard.errors import InvalidError
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.formats.json_fields import fields
from steelyard.model.json_value import JsonValue
from steelyard.project_file import write_settings
from steelyard.settings import Settings, TargetEntry
from steelyard.usecases.runs.ports import RunPorts

_AGENTV = ".agentv/config.yaml"
_VARIABLE = re.compile(r"\$\{(\w+)")


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
    saved = dict(_saved(ports))
    ports.inputs.keep(run_id, {**named, **reads}, saved, write_settings(settings))


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


def _saved(ports: RunPorts) -> Iterator[tuple[Path, bytes]]:
    """Rubrics and judges of the store, as files: a draft may change before the run begins."""
    for kind in ("rubric", "judge"):
        for one in ports.references.known(kind):
            if one.data is not None:
                yield Path(f"{kind}s", f"saved-{Path(one.path).name}"), one.data


def _targets(settings: Settings, specs: Mapping[str, TargetSpec]) -> dict[str, TargetEntry]:
    """The targets of a run; of others only variables, whose values redaction looks for."""
    kept: dict[str, TargetEntry] = {}
    for name, entry in settings.targets.items():
        kept[name] = entry.without_header_values() if name in specs else _variables_alone(entry)
        for place in kept[name].written_secrets():
            raise InvalidError(
                f"targets.{name}.{place} is written out in steelyard.yaml, and a queued run keeps "
                "no secrets: name a variable of the environment with ${NAME}, without a default"
            )
    return kept


def _variables_alone(entry: TargetEntry) -> TargetEntry:
    key = {name: entry.extra[name] for name in ("api_key_env",) if name in entry.extra}
    return TargetEntry(provider=entry.provider, extra={**fields(_references(entry.extra)), **key})


def _references(value: JsonValue) -> JsonValue:
    """Every `${NAME}` of a setting, without defaults and other text."""
    if isinstance(value, dict):
        return {key: kept for key, item in value.items() if (kept := _references(item))}
    if isinstance(value, list):
        return [kept for item in value if (kept := _references(item))]
    names: list[str] = _VARIABLE.findall(value) if isinstance(value, str) else []
    return "".join(f"${{{name}}}" for name in names)
