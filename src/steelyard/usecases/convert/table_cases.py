"""Tables as datasets: each row of a file becomes an eval case, one at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.detect import detect_jsonl, is_of_a_run
from steelyard.contracts.eval_cases.spelling import UNREAD
from steelyard.contracts.importers.columns import ColumnMap
from steelyard.contracts.importers.source_row import Imported
from steelyard.contracts.importers.table import (
    EXPECTED,
    TableColumns,
    lacking,
    misspelt,
    row_name,
    suggested_columns,
    table_map,
)
from steelyard.errors import (
    InvalidError,
    ParseError,
    Suggestion,
    UnreadableFileError,
    argument,
)
from steelyard.formats.json_text import compact
from steelyard.formats.names import near_miss
from steelyard.formats.records import Record
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.json_value import JsonObject
from steelyard.ports import Warn, Workspace
from steelyard.usecases.convert.conversion_request import ConvertPorts
from steelyard.usecases.convert.source_records import FRAMES, file_records, source_files
from steelyard.usecases.datasets.plain_text import table_with

_TABLES = (".csv", ".tsv", ".ndjson", *FRAMES)
_WORKBOOKS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_LISTS = (".jsonl", ".json")
_LOOKED_AT = 100
"""The columns of so many rows are known before the first row is read."""
_SHOWN = 5
_CASES = ("input", "input_messages", "expected_outcome", "expected_output", "expected_messages")
_GRADED = "Graded by the rubric of the run."
_BLOCK = 1024 * 1024


class TableSource(NamedTuple):
    """A file or folder of rows, and the columns that a user names."""

    path: Path
    columns: TableColumns
    has_rubric: bool = False
    """Whether a rubric grades the answers, so that rows need no expectation."""
    is_strict: bool = False
    """Whether a misspelt column is refused."""


def is_table(ports: ConvertPorts, table: TableSource) -> bool:
    """Whether a path is to be read as a table: it is one, or columns of it are named."""
    path, extension = table.path, table.path.suffix.lower()
    if path.is_dir():
        return bool(table.columns.names) or _has_frames(path)
    if extension in _TABLES:
        return True
    if extension not in _LISTS or not ports.workspace.is_file(path):
        return False
    return bool(table.columns.names) or _is_plain(ports, path)


def no_table(path: Path) -> str:
    """Why a path is no table."""
    if not path.exists():
        return "no such file"
    is_workbook = path.suffix.lower() in _WORKBOOKS
    return "a workbook is not read as one; save it as CSV" if is_workbook else "it is not one"


def write_cases(ports: ConvertPorts, table: TableSource, folder: Path, warn: Warn) -> Path:
    """Write the rows as eval cases beneath a folder, at a place that follows from the content.

    The rows are read again by `resume` and by other processes, which find the same file.
    """
    files = [one.path for one in source_files(ports.workspace, table.path, None)]
    stem = table.path.resolve().stem
    at = folder / _digest(ports.workspace, files, table.columns) / f"{stem}.yaml"
    records = (record for file in files for record in _rows(ports, file))
    first = list(islice(records, _LOOKED_AT))
    found = dict.fromkeys(name for record in first for name in record.value or ())
    if not first:
        raise InvalidError(f"{table.path} has no rows")
    if not found:
        # What is wrong with every row hides the columns, which may be there.
        reasons = "; ".join(f"{record.place}: {record.fault}" for record in first[:_SHOWN])
        raise InvalidError(f"{table.path}: no row can be read: {reasons}")
    columns = _column_map(table, ports.contracts, found, stem)
    _warn_of_misspelt(table, columns, found, warn)
    if not (table.has_rubric or EXPECTED & {columns.field(name) for name in found}):
        message = (
            f"{table.path}: nothing says what is expected; name a column with "
            f"{argument('expected')}, or a rubric with {argument('rubric')}"
        )
        raise _lacking_columns(message, table, found)
    draft = ports.draft(at)
    faults, seen = list[str](), SeenIds()
    try:
        named: JsonObject = dict.fromkeys(table.columns.names.values())
        # JSON, which is YAML as well; rows of JSONL would need an `expected_outcome`.
        draft.write(b'{"tests":[\n')
        for number, record in enumerate(chain(first, records), start=1):
            row = _case(columns, record, named, number)
            if isinstance(row, dict) and table.has_rubric and not EXPECTED & row.keys():
                row["criteria"] = _GRADED
            fault = row if isinstance(row, str) else lacking(columns, row, found)
            if not fault and isinstance(row, dict) and not seen.add(str(row["id"])):
                fault = f"an earlier row has the id '{row['id']}', too"
            if fault:
                faults.append(f"{record.place}: {fault}")
                row = _unread(columns, number, faults[-1])
            draft.write((b"" if number == 1 else b",\n") + compact(row))
        draft.write(b"\n]}\n")
        draft.settle()
    finally:
        draft.discard()
    _warn_of_faults(table.path, faults, warn)
    return at


def _column_map(
    table: TableSource, contracts: Contracts, found: Collection[str], stem: str
) -> ColumnMap:
    try:
        contract = contracts.default(".jsonl")
        return table_map(contract, stem, table.columns, found)
    except InvalidError as wrong:
        message = (
            f"{table.path}: {wrong.phrased(argument)}"
            if table.columns.names
            else table_with(found)
        )
        if set(table.columns.names.values()) <= set(found):
            raise _lacking_columns(message, table, found) from None
        raise InvalidError(message) from None


def _lacking_columns(message: str, table: TableSource, found: Collection[str]) -> InvalidError:
    suggested = suggested_columns(found, table.columns)
    return InvalidError(message).suggesting(Suggestion(arguments=suggested))


def _case(columns: ColumnMap, record: Record, named: JsonObject, number: int) -> JsonObject | str:
    """The eval case of a row, or why there is none."""
    if record.value is None:
        return record.fault
    try:
        made = columns.imported({**named, **record.value}, row_name(number))
    except ParseError as wrong:
        return str(wrong)
    return made.row if isinstance(made, Imported) else made.reason


def _unread(columns: ColumnMap, number: int, reason: str) -> JsonObject:
    """What keeps the place of a row that cannot be read: an invalid record with its reason."""
    return {columns.contract.row_id: row_name(number), UNREAD: reason}


def _warn_of_misspelt(
    table: TableSource, columns: ColumnMap, found: Collection[str], warn: Warn
) -> None:
    for column, meant in misspelt(columns, found).items():
        message = f"{table.path}: unknown column '{column}' (did you mean '{meant}'?)"
        if table.is_strict:
            raise InvalidError(f"strict: {message}")
        warn(f"{message}; it is kept in metadata")


def _warn_of_faults(path: Path, faults: Sequence[str], warn: Warn) -> None:
    for fault in faults[:_SHOWN]:
        warn(f"{path}: {fault}; this record is invalid")
    if len(faults) > _SHOWN:
        warn(f"{path}: {len(faults) - _SHOWN:,} more rows are invalid")


def _has_frames(folder: Path) -> bool:
    """Whether a folder holds Parquet or Arrow files, as those of a data set do."""
    return any(file.suffix.lower() in FRAMES for file in folder.rglob("*"))


def _is_plain(ports: ConvertPorts, path: Path) -> bool:
    """Whether the rows of a file belong to no contract, and are no results of a run."""
    try:
        first = next(_rows(ports, path), None)
    except (InvalidError, ParseError, UnreadableFileError):
        return False
    value = first.value if first else None
    if value is None or is_of_a_run(value) or detect_jsonl(ports.contracts, value):
        return False
    # Eval cases are the contract of rows that no other has, also of misspelt ones.
    return not any(near_miss(name, _CASES) for name in value)


def _rows(ports: ConvertPorts, path: Path) -> Iterator[Record]:
    return file_records(ports.workspace, path, ports.frames)


def _digest(workspace: Workspace, files: Sequence[Path], columns: TableColumns) -> str:
    total = hashlib.sha256(repr(columns).encode("utf-8", "surrogatepass"))
    for file in files:
        total.update(f"\0{file.name}\0".encode("utf-8", "surrogatepass"))
        with workspace.open(file) as stream:
            while block := stream.read(_BLOCK):
                total.update(block)
    return total.hexdigest()[:16]
