"""What a source of a conversion offers: cases, recorded responses, targets, labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from steelyard.contracts.importers.source_row import Import
from steelyard.errors import InvalidError, ParseError, argument
from steelyard.formats.records import Record
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.intake import Beside
from steelyard.usecases.convert.source_records import export_records, file_records, source_files

PlacedImports: TypeAlias = Iterator[tuple[str, Import]]
"""Rows in the shape of a contract, each with its place in the source."""


class CaseRows(NamedTuple):
    """The cases of a source, as rows of a contract."""

    contract: str
    dataset: str
    """The name of the dataset."""
    path: Path
    """Files that cases name are read beside this file."""
    imports: PlacedImports
    description: str = ""
    changes: tuple[Change, ...] = ()
    """Changes that concern the whole source."""
    beside: Callable[[], Beside] | None = None
    """What is written beside the cases, known when all of them are read."""


class RecordedRows(NamedTuple):
    """The recorded responses of a source, as rows of a response file."""

    imports: PlacedImports
    changes: tuple[Change, ...] = ()
    has_repeats: bool = False
    """Whether another answer to the same record is a repeat."""


class TargetRows(NamedTuple):
    """The targets of a source, each with its name and its settings."""

    imports: PlacedImports
    settings: JsonObject
    """What a project file says beside them."""
    changes: tuple[Change, ...] = ()


class LabelRows(NamedTuple):
    """What people said about responses: one thing by one person each.

    A row has `record_id`, `repeat`, `candidate_name`, `annotator`, `name`, `value`, `comment`.
    """

    imports: PlacedImports
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFormat:
    """A source format: how its cases and its responses are opened."""

    cases: Callable[[ConvertPorts, ConvertOptions], CaseRows] | None = None
    case_names: tuple[str, ...] | None = ()
    """The fields of a case that the request may map; None where the contract has to say which."""
    responses: Callable[[ConvertPorts, ConvertOptions], RecordedRows] | None = None
    response_names: tuple[str, ...] = ()
    targets: Callable[[ConvertPorts, ConvertOptions], TargetRows] | None = None
    labels: Callable[[ConvertPorts, ConvertOptions], LabelRows] | None = None

    def check_names(self, options: ConvertOptions, names: tuple[str, ...] | None) -> None:
        """Refuse a field that `names` cannot name."""
        wrong = [name for name in options.names if names is not None and name not in names]
        if not wrong:
            return
        if not names:
            raise InvalidError(
                f"{argument('names')} is for tables; the fields of {options.made_from} are known"
            )
        raise InvalidError(
            f"{argument('names')} {wrong[0]}=…: {options.made_from} can fill {', '.join(names)}"
        )


def source_rows(ports: ConvertPorts, options: ConvertOptions, *, splits: bool) -> Iterator[Record]:
    """All records of the source's files with their places, and with their split if asked."""
    files = source_files(ports.workspace, options.source, options.split)
    has_splits = splits and len({file.split for file in files}) > 1
    for file in files:
        within = f"{file.path.name} " if len(files) > 1 else ""
        for record in file_records(ports.workspace, file.path, ports.frames):
            value = record.value
            if has_splits and value is not None and "split" not in value:
                value = {**value, "split": file.split}
            yield Record(f"{within}{record.place}", value, record.fault)


def document_rows(ports: ConvertPorts, path: Path) -> Iterator[Record]:
    """All records of the source's files; a JSON file may be one document of an API."""
    files = [file.path for file in source_files(ports.workspace, path, None)]
    for file in files:
        within = f"{file.name} " if len(files) > 1 else ""
        is_document = file.suffix.lower() == ".json"
        read = export_records if is_document else partial(file_records, frames=ports.frames)
        for record in read(ports.workspace, file):
            place = record.place.removeprefix(f"{file.name} ")
            yield record._replace(place=f"{within}{place}")


def imports_of(records: Iterable[Record], make: Callable[[Record], list[Import]]) -> PlacedImports:
    """What an importer makes of each record; what it cannot read is invalid."""
    for record in records:
        if record.value is None:
            yield record.place, Refusal("invalid", record.fault)
            continue
        try:
            made = make(record)
        except ParseError as wrong:
            yield record.place, Refusal("invalid", str(wrong))
            continue
        for found in made:
            yield record.place, found
