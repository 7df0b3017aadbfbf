"""OpenAI Evals as a source of a conversion."""

from __future__ import annotations

from steelyard.contracts.importers.openai_evals import import_openai_evals
from steelyard.contracts.importers.source_row import Import
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import CaseRows, imports_of, source_rows

ITEM_FIELDS = ("id", "input", "expected_output", "expected_outcome")
"""The fields of a case that a field of an item can fill."""


def item_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The items of exports and data files."""
    dataset = options.source.resolve().stem
    is_legal = options.to == "legal_eval"

    def make(record: Record) -> list[Import]:
        item = fields(record.value)
        return import_openai_evals(item, options.names, dataset if is_legal else None)

    contract = "legal_eval" if is_legal else "eval_cases"
    records = source_rows(ports, options, splits=False)
    return CaseRows(contract, dataset, options.source, imports_of(records, make))
