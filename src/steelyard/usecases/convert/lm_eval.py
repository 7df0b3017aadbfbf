"""The output folder of lm-evaluation-harness as a source: `samples_*.jsonl`, `results_*.json`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.importers.lm_eval import (
    import_lm_eval_case,
    import_lm_eval_responses,
    model_of,
)
from steelyard.contracts.importers.source_row import Import
from steelyard.errors import InvalidError, NotFoundError
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record, jsonl_records
from steelyard.model.conversion import Change
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import CaseRows, PlacedImports, RecordedRows, imports_of
from steelyard.usecases.convert.source_records import export_records

_SAMPLES = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d.\-]+))?\.jsonl")
_RESULTS = re.compile(r"results_(\d{4}-\d\d-\d\dT[\d.\-]+)\.json")
_NAMED = "no results_*.json beside {} names the model; the candidate is called after the folder"


class SampleLog(NamedTuple):
    """The samples of one task in one run."""

    path: Path
    task: str
    date: str


def lm_eval_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The documents of generative tasks as cases."""
    logs = _logs(ports.workspace, options)
    tasks = {log.task for log in logs}

    def maker(log: SampleLog) -> Callable[[Record], list[Import]]:
        return lambda record: [import_lm_eval_case(log.task, fields(record.value))]

    return CaseRows(
        contract="eval_cases",
        dataset=tasks.pop() if len(tasks) == 1 else options.source.resolve().stem,
        path=options.source,
        imports=_imports(ports.workspace, logs, maker),
    )


def lm_eval_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """The answers to them, with the model that the results name."""
    logs = _logs(ports.workspace, options)
    models = {log.path: _model(ports.workspace, log) for log in logs}
    changes = [
        Change("candidate_name", _NAMED.format(log.path.name), is_lost=False)
        for log in logs
        if not models[log.path]
    ]

    def maker(log: SampleLog) -> Callable[[Record], list[Import]]:
        model = models[log.path] or log.path.resolve().parent.name
        return lambda record: import_lm_eval_responses(log.task, model, fields(record.value))

    return RecordedRows(_imports(ports.workspace, logs, maker), tuple(changes))


def _logs(workspace: Workspace, options: ConvertOptions) -> list[SampleLog]:
    """The sample logs of a path: one, those of a folder, or those of a run by its results."""
    results = _RESULTS.fullmatch(options.source.name)
    if workspace.is_file(options.source) and results is None:
        return [_log(options.source)]
    folder = options.source if results is None else options.source.parent
    found = [entry.path for entry in workspace.expand([str(folder)])]
    logs = [_log(path) for path in found if _SAMPLES.fullmatch(path.name)]
    if results:
        logs = [
            log
            for log in logs
            if log.path.resolve().parent == folder.resolve() and log.date == results[1]
        ]
    if not logs:
        raise NotFoundError(
            f"no samples_*.jsonl in {options.source}; lm-eval writes them where log_samples is set"
        )
    chosen = [log for log in logs if options.split in {None, log.task}]
    if not chosen:
        tasks = ", ".join(dict.fromkeys(log.task for log in logs))
        raise InvalidError(f"{options.source} has no task '{options.split}'; it has {tasks}")
    return chosen


def _log(path: Path) -> SampleLog:
    named = _SAMPLES.fullmatch(path.name)
    return SampleLog(path, named[1], named[2] or "") if named else SampleLog(path, path.stem, "")


def _imports(
    workspace: Workspace,
    logs: list[SampleLog],
    maker: Callable[[SampleLog], Callable[[Record], list[Import]]],
) -> PlacedImports:
    for log in logs:
        within = f"{log.path.name} " if len(logs) > 1 else ""
        with workspace.open(log.path) as stream:
            for place, found in imports_of(jsonl_records(stream), maker(log)):
                yield f"{within}{place}", found


def _model(workspace: Workspace, log: SampleLog) -> str:
    """The model in the results of the same run, else in the only results beside the log."""
    listed = [entry.path for entry in workspace.expand([str(log.path.resolve().parent)])]
    beside = [
        path
        for path in listed
        if path.parent == log.path.resolve().parent and re.fullmatch(r"results.*\.json", path.name)
    ]
    same = [path for path in beside if log.date and log.date in path.name]
    for path in same or (beside if len(beside) == 1 else []):
        for record in export_records(workspace, path):
            if record.value is not None and (model := model_of(record.value)):
                return model
    return ""
