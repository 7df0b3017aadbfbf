"""The published rows of benchmarks as a source of cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from steelyard.contracts.importers.apexv1 import import_apexv1
from steelyard.contracts.importers.includebase import import_includebase
from steelyard.contracts.importers.lar_echr import import_lar_echr
from steelyard.contracts.importers.lexam import import_lexam
from steelyard.contracts.importers.prbench import import_prbench
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.model.json_value import JsonObject
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import CaseRows, imports_of, source_rows

BENCHMARKS: dict[str, Callable[[JsonObject], list[JsonObject]]] = {
    "prbench": import_prbench,
    "apexv1": import_apexv1,
    "lexam": import_lexam,
    "includebase": import_includebase,
    "lar_echr": import_lar_echr,
}


def benchmark_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The tasks of a benchmark as rows of legal_eval."""
    name = cast(str, options.made_from)
    importer = BENCHMARKS[name]

    def make(record: Record) -> list[Import]:
        return [Imported(row) for row in importer(fields(record.value))]

    records = source_rows(ports, options, splits=False)
    return CaseRows("legal_eval", name, options.source, imports_of(records, make))
