"""Exports of Langfuse as a source: from its pages, its API, or its files in a bucket."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.contracts.importers.conversation import as_text
from steelyard.contracts.importers.langfuse import (
    import_item,
    import_score,
    kind_of,
    observation_span,
    trace_span,
    unfolded,
)
from steelyard.contracts.importers.source_row import Import
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.model.conversion import Refusal
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.platform_traces import Named, PlatformTraces
from steelyard.usecases.convert.source import (
    CaseRows,
    LabelRows,
    PlacedImports,
    RecordedRows,
    document_rows,
    imports_of,
)

_NO_ROW = (
    "Langfuse exports no such row: a dataset item has 'expectedOutput', an observation 'traceId' "
    "and 'startTime', a score 'source', a trace 'timestamp'"
)
_OF = {
    "item": "a dataset item",
    "run_item": "an item of a run",
    "score": "a score",
    "observation": "a part of a trace",
    "trace": "a trace",
}


def langfuse_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The items of datasets; `split` names one dataset."""

    def make(record: Record) -> list[Import]:
        row = fields(record.value)
        kind = kind_of(row)
        if kind != "item":
            return [_other(kind)]
        if options.split and row.get("datasetName") != options.split:
            return [Refusal("skipped", "an item of another dataset", "dataset")]
        return [import_item(row, options.names)]

    return CaseRows(
        contract="eval_cases",
        dataset=options.split or options.source.resolve().stem,
        path=options.source,
        imports=imports_of(_rows(ports, options), make),
    )


def langfuse_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """One response for each trace with all of its observations."""
    export = _Export(ports, options)

    def imports() -> PlacedImports:
        yield from export.refused
        yield from export.traces.responses(options.names)
        yield from ((record.place, _other("score")) for record in export.scores)

    return RecordedRows(imports())


def langfuse_labels(ports: ConvertPorts, options: ConvertOptions) -> LabelRows:
    """The scores of people about traces."""
    export = _Export(ports, options)
    scores = imports_of(export.scores, lambda record: [import_score(fields(record.value))])

    def imports() -> PlacedImports:
        yield from export.refused
        yield from export.traces.labels(scores, options.names)

    return LabelRows(imports())


class _Export:
    """The rows of an export, sorted by what they are."""

    def __init__(self, ports: ConvertPorts, options: ConvertOptions) -> None:
        self.traces = PlatformTraces()
        self.scores: list[Record] = []
        self.refused: list[tuple[str, Import]] = []
        observations: list[Record] = []
        whole: set[str] = set()
        for record in _rows(ports, options):
            row = fields(record.value or {})
            kind = kind_of(row)
            if record.value is None or kind is None:
                reason = record.fault or _NO_ROW
                self.refused.append((record.place, Refusal("invalid", reason, reason)))
            elif kind == "item":
                self.refused.append((record.place, _other(kind)))
            elif kind == "score":
                self.scores.append(record)
            elif kind == "observation":
                observations.append(record)
            elif kind == "run_item":
                run = as_text(row.get("datasetRunName")) or as_text(row.get("datasetRunId"))
                self.traces.name(str(row["traceId"]), Named(str(row["datasetItemId"]), run))
            else:
                whole.add(str(row["id"]))
                self.traces.add(trace_span(row))
                self.traces.answered(str(row["id"]), row.get("output"))
        for record in observations:
            self._observe(record, whole)

    def _observe(self, record: Record, whole: set[str]) -> None:
        row = fields(record.value)
        try:
            self.traces.add(observation_span(row, has_trace=str(row["traceId"]) in whole))
        except ParseError as wrong:
            self.refused.append((record.place, Refusal("invalid", str(wrong))))


def _rows(ports: ConvertPorts, options: ConvertOptions) -> Iterator[Record]:
    for record in document_rows(ports, options.source):
        if record.value is None:
            yield record
            continue
        found = list(unfolded(record.value))
        for number, row in enumerate(found, start=1):
            within = f" item {number}" if len(found) > 1 else ""
            yield Record(f"{record.place}{within}", row)


def _other(kind: str | None) -> Refusal:
    if kind is None:
        return Refusal("invalid", _NO_ROW, "no row")
    return Refusal("skipped", f"{_OF[kind]}, which is no part of this output", kind)
