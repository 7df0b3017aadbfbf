"""OpenAI Evals as a source of a conversion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from steelyard.contracts.importers.openai_evals import import_openai_evals
from steelyard.contracts.importers.source_row import Import
from steelyard.errors import InvalidError, argument
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.openai_evals.exports import (
    EvalDefinitions,
    item_case,
    item_response,
    listed,
)
from steelyard.usecases.convert.openai_evals.logs import RunLog
from steelyard.usecases.convert.openai_evals.registry import EvalRegistry
from steelyard.usecases.convert.source import (
    CaseRows,
    PlacedImports,
    RecordedRows,
    imports_of,
)
from steelyard.usecases.convert.source_records import export_records, file_records, source_files

ITEM_FIELDS = ("id", "input", "expected_output", "expected_outcome")
"""The fields of a case that a field of an item can fill."""
_REGISTRY = (".yaml", ".yml")


def evals_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The samples of a registry file, or the items of exports and data files."""
    is_registry = options.source.suffix.lower() in _REGISTRY
    return _registry_cases(ports, options) if is_registry else _item_cases(ports, options)


def evals_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """The answers in logs of `oaieval`, or in exports of the platform."""
    records = _rows(ports, options)

    def make(record: Record) -> list[Import]:
        return item_response(fields(record.value), options.names)

    def imports() -> PlacedImports:
        log = RunLog()
        for record in records:
            if record.value is None or not log.add(record):
                yield from imports_of([record], make)
        yield from log.imports()

    return RecordedRows(imports())


def _rows(ports: ConvertPorts, options: ConvertOptions) -> Iterator[Record]:
    """All records of the source; a JSON file may be one object of the API."""
    files = [file.path for file in source_files(ports.workspace, options.source, options.split)]
    for path in files:
        within = f"{path.name} " if len(files) > 1 else ""
        is_document = path.suffix.lower() == ".json"
        read = export_records if is_document else partial(file_records, frames=ports.frames)
        for record in listed(read(ports.workspace, path)):
            place = record.place.removeprefix(f"{path.name} ")
            yield record._replace(place=f"{within}{place}")


def _registry_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    if options.names:
        raise InvalidError(f"{argument('names')} is for items; a registry says what is what")
    registry = EvalRegistry(ports.workspace, options.source)
    entries = registry.chosen(options.split)
    only = entries[0].sample_prefix if len(entries) == 1 else ""
    return CaseRows(
        contract="eval_cases",
        dataset=only or options.source.resolve().stem,
        path=options.source,
        imports=registry.imports(entries),
    )


def _item_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    dataset = options.source.resolve().stem
    is_legal = options.to == "legal_eval"
    definitions = EvalDefinitions(_rows(ports, options))

    def make(record: Record) -> list[Import]:
        item = fields(record.value)
        if is_legal:
            return import_openai_evals(item, options.names, dataset)
        return item_case(item, options.names, definitions)

    contract = "legal_eval" if is_legal else "eval_cases"
    records = _rows(ports, options)
    return CaseRows(contract, dataset, options.source, imports_of(records, make))
