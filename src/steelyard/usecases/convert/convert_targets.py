"""Convert the targets of another tool to a project file, and report what was not converted."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import cast

from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.conversion import Change, Conversion, Refusal
from steelyard.model.json_value import JsonObject
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.output_forms import TARGETS, form_source
from steelyard.usecases.convert.tally import Tally

_HEADER = "# Targets of {source}; keys are only ever named by environment variable.\n"
_NO_JUDGE = "no target stands for '{name}', which judges; name one under judges"


def convert_targets(ports: ConvertPorts, options: ConvertOptions) -> Conversion:
    """Write a project file with the targets; without any, nothing is written."""
    source = form_source(ports, options)
    assert source.targets
    rows = source.targets(ports, options)
    tally = Tally(is_bounded=False)
    targets: JsonObject = {}
    for place, found in rows.imports:
        tally.read += 1
        if isinstance(found, Refusal):
            tally.refuse(place, found)
            continue
        name = text_field(found.row, "name")
        targets[name] = found.row["settings"]
        tally.emit(name, found.changes)
    settings, changes = _judged(rows.settings, targets)
    tally.change("", (*rows.changes, *changes))
    files: tuple[str, ...] = ()
    if targets:
        header = _HEADER.format(source=options.source.name).encode()
        files = _write(ports, options, header + write_yaml({"targets": targets, **settings}))
    made = tally.conversion(str(options.source), cast(str, options.made_from), TARGETS)
    return replace(made, files=files)


def _judged(settings: JsonObject, targets: JsonObject) -> tuple[JsonObject, list[Change]]:
    """The settings beside the targets, without a judge that no target stands for."""
    judges = fields(settings.get("judges", {}))
    names = [text_field(fields(judge), "target") for judge in judges.values()]
    unknown = [name for name in names if name not in targets]
    if not unknown:
        return settings, []
    kept = {name: value for name, value in settings.items() if name != "judges"}
    return kept, [Change("judge_target", _NO_JUDGE.format(name=unknown[0]))]


def _write(ports: ConvertPorts, options: ConvertOptions, data: bytes) -> tuple[str, ...]:
    if options.output is None:
        ports.show(data)
        return ()
    with ExitStack() as stack:
        draft = ports.draft(options.output)
        stack.callback(draft.discard)
        draft.write(data)
        draft.settle()
    return (str(options.output),)
