"""Exports of Phoenix as a source: from its pages, its API, or tables of its client."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.contracts.importers.otel_spans import GROUPS, Span, spans_of
from steelyard.contracts.importers.phoenix import (
    Kind,
    annotations_of,
    import_annotation,
    import_example,
    import_run,
    kind_of,
    phoenix_span,
    unfolded,
)
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.platform_traces import PlatformTraces
from steelyard.usecases.convert.source import (
    CaseRows,
    LabelRows,
    PlacedImports,
    RecordedRows,
    document_rows,
    imports_of,
)

_NO_ROW = (
    "Phoenix exports no such row: an example has 'input' and 'output', a run 'example_id', a span "
    "'context', an annotation 'annotator_kind'"
)
_OF: dict[Kind, str] = {
    "example": "an example of a dataset",
    "run": "a run of an experiment",
    "span": "a part of a trace",
    "annotation": "an annotation",
}


def phoenix_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The examples of a dataset."""

    def make(record: Record) -> list[Import]:
        row = fields(record.value)
        kind = kind_of(row)
        return [import_example(row, options.names) if kind == "example" else _other(kind)]

    return CaseRows(
        contract="eval_cases",
        dataset=options.source.resolve().stem,
        path=options.source,
        imports=imports_of(_rows(ports, options), make),
    )


def phoenix_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """The runs of experiments, and one response for each trace of other spans."""
    export = _Export(ports, options)

    def imports() -> PlacedImports:
        yield from export.refused
        yield from export.responses()
        yield from export.traces.responses(options.names)
        yield from ((record.place, _other("annotation")) for record in export.annotations)

    return RecordedRows(imports())


def phoenix_labels(ports: ConvertPorts, options: ConvertOptions) -> LabelRows:
    """The annotations of people."""
    export = _Export(ports, options)

    def imports() -> PlacedImports:
        yield from export.refused
        yield from export.traces.labels(export.labels(), options.names)

    return LabelRows(imports())


class _Export:
    """The rows of an export, sorted by what they are."""

    def __init__(self, ports: ConvertPorts, options: ConvertOptions) -> None:
        self.traces = PlatformTraces()
        self.annotations: list[Record] = []
        self.refused: list[tuple[str, Import]] = []
        self._candidate = options.source.resolve().stem
        self._runs: list[Record] = []
        self._trace_of: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        for record in _rows(ports, options):
            try:
                self._add(record)
            except ParseError as wrong:
                self.refused.append((record.place, Refusal("invalid", str(wrong))))

    def responses(self) -> PlacedImports:
        """The runs of experiments."""

        def make(record: Record) -> list[Import]:
            found = import_run(fields(record.value), self._candidate)
            if isinstance(found, Imported):
                record_id = self._own_id(found.row["record_id"])
                found = found._replace(row={**found.row, "record_id": record_id})
            return [found]

        return imports_of(self._runs, make)

    def labels(self) -> PlacedImports:
        """What people said, about traces or about the runs of examples."""
        made = imports_of(
            self.annotations, lambda record: [import_annotation(fields(record.value))]
        )
        for place, found in made:
            yield place, self._placed(found) if isinstance(found, Imported) else found

    def _placed(self, found: Imported) -> Imported:
        row = found.row
        span_id = str(row["span_id"])
        trace_id = str(row["trace_id"] or self._trace_of.get(span_id, span_id))
        if row["example_id"]:
            record_id = self._own_id(row["example_id"])
            about: JsonObject = {"record_id": record_id, "candidate_name": self._candidate}
            return found._replace(row={**row, **about, "trace_id": ""})
        return found._replace(row={**row, "trace_id": trace_id})

    def _add(self, record: Record) -> None:
        row = fields(record.value or {})
        if any(name in row for name in GROUPS):
            for span in spans_of(row):
                self._add_span(span)
                self.annotations += [
                    Record(f"{record.place} span {span.span_id}", one)
                    for one in annotations_of(span)
                ]
            return
        kind = kind_of(row)
        if record.value is None or kind is None:
            reason = record.fault or _NO_ROW
            self.refused.append((record.place, Refusal("invalid", reason, reason)))
        elif kind == "span":
            self._add_span(phoenix_span(row))
        elif kind == "annotation":
            self.annotations.append(record)
        elif kind == "run":
            self._runs.append(record)
        else:
            if row.get("node_id") and row.get("id"):
                self._ids[str(row["node_id"])] = str(row["id"])
            self.refused.append((record.place, _other(kind)))

    def _own_id(self, example_id: JsonValue) -> JsonValue:
        """The id that the dataset gives an example, where the source holds the dataset."""
        return self._ids.get(str(example_id), example_id)

    def _add_span(self, span: Span) -> None:
        self.traces.add(span)
        self._trace_of[span.span_id] = span.trace_id


def _rows(ports: ConvertPorts, options: ConvertOptions) -> Iterator[Record]:
    for record in document_rows(ports, options.source):
        if record.value is None:
            yield record
            continue
        found = list(unfolded(record.value))
        for number, row in enumerate(found, start=1):
            within = f" item {number}" if len(found) > 1 else ""
            yield Record(f"{record.place}{within}", row)


def _other(kind: Kind | None) -> Refusal:
    if kind is None:
        return Refusal("invalid", _NO_ROW, "no row")
    return Refusal("skipped", f"{_OF[kind]}, which is no part of this output", kind)
