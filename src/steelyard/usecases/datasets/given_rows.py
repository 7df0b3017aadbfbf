"""Rows that a program has in memory, read as a file with those rows is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.contract import Contract, DatasetFile
from steelyard.contracts.detect import detect_jsonl
from steelyard.contracts.importers.chat_messages import trace_messages
from steelyard.contracts.importers.columns import ColumnMap
from steelyard.contracts.importers.source_row import Imported
from steelyard.contracts.importers.table import (
    EXPECTED,
    TableColumns,
    lacking,
    misspelt,
    row_name,
    table_map,
)
from steelyard.contracts.reading import ChangedReading, DatasetReading, Row
from steelyard.errors import InvalidError, ParseError
from steelyard.formats.json_text import compact
from steelyard.formats.names import near_miss
from steelyard.formats.plain_json import plain_json
from steelyard.formats.records import Record
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Files

NAME = "rows"
"""What a dataset is called that is no file."""
ACCEPTED = "a path, a Dataset, a list of dicts or a data frame"
_CHATS = ("input", "input_messages", "expected_output", "expected_messages", "messages")
_LINE = re.compile(r"^Line \d+: ")
_LIST = re.compile(r"^[a-z_]*\[")


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRows:
    """The rows of a list or of a data frame."""

    records: tuple[Record, ...]
    columns: TableColumns
    is_table: bool
    """Whether every row has the same columns, any of which may be empty."""
    has_rubric: bool = False
    """Whether a rubric grades the answers, so that rows need no expectation."""

    @property
    def digest(self) -> str:
        """A hash of all rows and of how they are read."""
        total = hashlib.sha256(repr(self.columns).encode("utf-8", "surrogatepass"))
        for record in self.records:
            total.update(compact(record.value) if record.value else record.fault.encode())
        return total.hexdigest()


def given_rows(given: Any, columns: TableColumns) -> GivenRows:
    """The rows of a list of dicts or of a data frame; raises InvalidError for anything else."""
    rows, is_table = _rows_of(given)
    records = tuple(_record(number, row) for number, row in enumerate(rows, start=1))
    if not records:
        raise InvalidError("there are no rows: the list or data frame is empty")
    return GivenRows(records=records, columns=columns, is_table=is_table or bool(columns.names))


def open_rows(
    rows: GivenRows, contracts: Contracts, files: Files
) -> tuple[DatasetReading, Contract]:
    """A reading of the rows, and their contract: that of their keys, or else eval cases."""
    first = next((record.value for record in rows.records if record.value is not None), None)
    contract = None if rows.columns.names else detect_jsonl(contracts, first)
    meant: Mapping[str, str] = {}
    if contract is None:
        contract = contracts.default(".jsonl")
        names = dict.fromkeys(name for record in rows.records for name in record.value or ())
        columns = table_map(contract, NAME, rows.columns, names)
        meant = misspelt(columns, names) if rows.is_table else _misspelt_fields(columns, names)
        made, faults = _eval_cases(rows, contract, columns)
    else:
        made, faults = _as_given(rows)
    file = DatasetFile(
        name=NAME, content=contract.part("wrapper")(NAME, made), files=files, is_made=True
    )
    noted = _unknown_fields(rows, meant)
    return _GivenReading(contract.open(file), faults, noted), contract


class _GivenReading(ChangedReading):
    """Rows without lines; those that could not be made have the reason as their finding."""

    def __init__(
        self,
        reading: DatasetReading,
        faults: Mapping[int, Finding],
        noted: Mapping[int, Sequence[Finding]],
    ) -> None:
        super().__init__(reading)
        self._faults = faults
        self._noted = noted

    def rows(self) -> Iterator[Row]:
        """Every row in order, the bad ones too."""
        for row in self._reading.rows():
            fault = self._faults.get(row.index)
            if fault:
                yield Row(row.index, None, None, None, (fault,))
            else:
                noted = self._noted.get(row.index, ())
                findings = (*map(_without_line, row.findings), *noted)
                yield row._replace(line=None, findings=findings)


def _without_line(finding: Finding) -> Finding:
    message = _LINE.sub("", finding.message)
    return replace(finding, line=None, message=message, path=_LIST.sub("[", finding.path, count=1))


def _misspelt_fields(columns: ColumnMap, names: Collection[str]) -> dict[str, str]:
    """The names in rows of eval cases that are fields only of a table, or nearly.

    What nearly is a field of eval cases is found by their reader.
    """
    fields, short = columns.columns.fields, columns.columns.short
    unknown = [name for name in names if not near_miss(name, fields)]
    meant = {name: near_miss(name, short) for name in unknown}
    return {name: short[one] for name, one in meant.items() if one and short[one] not in names}


def _unknown_fields(rows: GivenRows, meant: Mapping[str, str]) -> dict[int, list[Finding]]:
    """A finding for each misspelt name, at the first row that has it."""
    noted: dict[int, list[Finding]] = {}
    for name, field in meant.items():
        index = next(i for i, one in enumerate(rows.records) if name in (one.value or ()))
        finding = Finding(
            severity="warning",
            code="unknown_field",
            message=f"unknown field '{name}'",
            path=f"[{index}].{name}",
            index=index,
            hint=f"did you mean '{field}'?",
        )
        noted.setdefault(index, []).append(finding)
    return noted


def _rows_of(given: Any) -> tuple[Iterable[Any], bool]:
    """The rows of what was given, and whether it is a table; frames are known by their methods."""
    if callable(getattr(given, "collect_schema", None)) and hasattr(given, "collect"):
        given = given.collect()
    if callable(getattr(given, "iter_rows", None)):
        return given.iter_rows(named=True), True
    if callable(getattr(given, "to_pylist", None)):
        return given.to_pylist(), True
    if callable(getattr(given, "to_dict", None)) and hasattr(given, "columns"):
        return given.to_dict(orient="records"), True
    if hasattr(given, "column_names") and hasattr(given, "__iter__"):
        return given, True
    if isinstance(given, Sequence | Iterator) and not isinstance(given, str | bytes):
        return cast(Iterable[Any], given), False
    kind = type(given).__name__
    raise InvalidError(f"dataset must be {ACCEPTED}, not {kind}")


def _record(number: int, row: object) -> Record:
    place = f"row {number}"
    if not isinstance(row, Mapping):
        return Record(place, None, f"a row is a dict, not {type(row).__name__}")
    try:
        value = cast(JsonObject, plain_json(row))
    except (TypeError, ValueError, RecursionError) as wrong:
        return Record(place, None, str(wrong) or type(wrong).__name__)
    return Record(place, value)


def _eval_cases(
    rows: GivenRows, contract: Contract, columns: ColumnMap
) -> tuple[list[JsonObject], dict[int, Finding]]:
    """Rows of eval cases; a table's columns are mapped, and rows without an id get one."""
    if not rows.is_table:
        return _as_given(rows, contract.row_id)
    # A function would find all of no answers in any text.
    is_expected = rows.columns.expected is not None and not rows.has_rubric
    named: JsonObject = dict.fromkeys(rows.columns.names.values())
    made: list[JsonObject] = []
    faults: dict[int, Finding] = {}
    for index, record in enumerate(rows.records):
        row = _mapped(columns, record, named, row_name(index + 1))
        if isinstance(row, dict) and is_expected and not EXPECTED & row.keys():
            row = lacking(columns, {"input": "", **row}, record.value or ())
        if isinstance(row, str):
            faults[index] = _fault(index, row)
        made.append(_stand_in(index) if isinstance(row, str) else _with_messages(row))
    return made, faults


def _mapped(columns: ColumnMap, record: Record, named: JsonObject, name: str) -> JsonObject | str:
    """The row of a contract that a table's row stands for, or why there is none."""
    if record.value is None:
        return record.fault
    try:
        made = columns.imported({**named, **record.value}, name)
    except ParseError as wrong:
        return str(wrong)
    return made.row if isinstance(made, Imported) else made.reason


def _as_given(rows: GivenRows, key: str = "") -> tuple[list[JsonObject], dict[int, Finding]]:
    """Rows as they are; with a key, one without an id gets its number."""
    made: list[JsonObject] = []
    faults: dict[int, Finding] = {}
    for index, record in enumerate(rows.records):
        if record.value is None:
            made.append(_stand_in(index))
            faults[index] = _fault(index, record.fault)
            continue
        row = _with_messages(record.value)
        if rows.is_table:
            row = {name: row[name] for name in row if row[name] is not None}
        named: JsonObject = {key: row_name(index + 1)} if key and key not in row else {}
        made.append({**named, **row})
    return made, faults


def _with_messages(row: JsonObject) -> JsonObject:
    """A row whose messages are in the shape of a trace."""
    made = dict(row)
    for name in _CHATS:
        value = made.get(name)
        if isinstance(value, list) and _is_chat(value):
            made[name] = trace_messages(value)
    return made


def _is_chat(value: list[JsonValue]) -> bool:
    return all(isinstance(one, dict) and "role" in one for one in islice(value, 3))


def _stand_in(index: int) -> JsonObject:
    """Keeps the place of a row that could not be made, so that others keep their index."""
    return {"id": f"(row {index + 1})", "input": "-"}


def _fault(index: int, message: str) -> Finding:
    return Finding(
        severity="error",
        code="invalid_field_type",
        message=message,
        path=f"[{index}]",
        index=index,
    )
