"""Tables as a source of cases: columns fill the fields of the contract."""

from __future__ import annotations

from steelyard.contracts.importers.columns import ColumnMap
from steelyard.contracts.importers.source_row import Import
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import CaseRows, imports_of, source_rows

TABLES = ("csv", "parquet", "hf")


def table_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The rows of a table, with their split if it has several."""
    dataset = options.source.resolve().stem
    columns = ColumnMap.checked(ports.contracts[options.to], dataset, options.names)

    def make(record: Record) -> list[Import]:
        return [columns.imported(fields(record.value))]

    records = source_rows(ports, options, splits=True)
    return CaseRows(options.to, dataset, options.source, imports_of(records, make))
