"""The logs of Inspect AI as a source of a conversion."""

from __future__ import annotations

from steelyard.contracts.importers.inspect_log import import_case, import_response
from steelyard.contracts.importers.source_row import Import
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.model.conversion import Change, Refusal
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.inspect_logs import LogFile, LogSample, open_logs
from steelyard.usecases.convert.source import CaseRows, PlacedImports, RecordedRows, imports_of


def inspect_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The samples of logs as cases; logs of one task name the dataset."""
    logs = open_logs(ports.workspace, options.source)
    tasks = {log.head.task for log in logs}
    title = tasks.pop() if len(tasks) == 1 else ""
    contract = "legal_eval" if options.to == "legal_eval" else "eval_cases"
    samples = (sample for log in logs for sample in log.samples())
    records = (Record(sample.place, sample.value, sample.fault) for sample in samples)

    def make(record: Record) -> list[Import]:
        return [import_case(fields(record.value), contract)]

    return CaseRows(
        contract=contract,
        dataset=title or options.source.resolve().stem,
        path=options.source,
        imports=imports_of(records, make),
        changes=_changes(logs),
    )


def inspect_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """The samples of logs as recorded responses."""
    logs = open_logs(ports.workspace, options.source)

    def imports() -> PlacedImports:
        for log in logs:
            for sample in log.samples():
                yield sample.place, imported_sample(sample)

    return RecordedRows(imports(), _changes(logs))


def imported_sample(sample: LogSample) -> Import:
    """A sample of a log as a recorded response, or why it is none."""
    if sample.value is None:
        return Refusal("invalid", sample.fault)
    try:
        return import_response(sample.head, sample.value)
    except ParseError as wrong:
        return Refusal("invalid", str(wrong))


def _changes(logs: list[LogFile]) -> tuple[Change, ...]:
    return tuple(change for log in logs for change in log.changes)
