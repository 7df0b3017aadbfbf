"""Tables: the columns of a row to the fields of a contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.contracts.contract import Contract
from steelyard.contracts.importers.cells import CellColumns
from steelyard.contracts.importers.source_row import (
    CHOICES,
    Import,
    Imported,
    content_id,
    offered,
    unheld_choices,
    wrong,
)
from steelyard.errors import InvalidError, argument
from steelyard.formats.json_fields import fields
from steelyard.formats.names import did_you_mean
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue

_ASKED = ("input", "input_messages", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Which column fills which field of a contract."""

    contract: Contract
    columns: CellColumns
    dataset: str
    names: Mapping[str, str]

    @classmethod
    def checked(cls, contract: Contract, dataset: str, names: Mapping[str, str]) -> ColumnMap:
        """A map whose fields the contract has; raises RequestError for another."""
        if not contract.columns:
            raise InvalidError(f"{contract.name} cannot be made of a table; convert another file")
        columns: CellColumns = contract.part("columns")
        known, short = columns.fields, columns.short
        full: dict[str, str] = {}
        for name, column in names.items():
            field = short.get(name, name)
            if field not in known and not field.startswith("metadata."):
                hint = did_you_mean(name, (*known, *short))
                listed = ", ".join((*known, "metadata.NAME"))
                meant = f" ({hint})" if hint else ""
                raise InvalidError(
                    f"{argument('names')} {name}={column}: {contract.name} has no field "
                    f"'{name}'{meant}; columns can fill {listed}"
                )
            full[field] = column
        return cls(contract=contract, columns=columns, dataset=dataset, names=full)

    def imported(self, record: JsonObject, name: str = "") -> Import:
        """The row that a table's row stands for, unless the contract cannot hold its question.

        `name` is the id of a row whose table has none for it; without it the content makes one.
        """
        made = self.row(record, name)
        if self.columns.holds_choices:
            return made
        unread: JsonObject = {
            name: record.get(name) for name in CHOICES if self.field(name) is None
        }
        asked = [made.row[name] for name in _ASKED if name in made.row]
        return unheld_choices(offered(unread), "\n".join(map(_text, asked))) or made

    def row(self, record: JsonObject, name: str = "") -> Imported:
        """The contract's row that a table's row stands for; raises ParseError for a wrong cell."""
        for field, column in self.names.items():
            if column not in record:
                listed = ", ".join(f"'{name}'" for name in record)
                raise wrong(f"no column '{column}' to map to '{field}'; there are {listed}")
        row: JsonObject = {}
        metadata: JsonObject = {}
        changes: list[Change] = []
        for column, value in record.items():
            if value is None or value == "":
                continue
            field = self.field(column)
            if field is None:
                metadata[column] = value
                changes.append(Change(column, "kept in metadata", is_lost=False))
            elif field.startswith("metadata."):
                metadata[field.removeprefix("metadata.")] = value
            else:
                _put(row, field, self.columns.fields[field](value, column))
        if name and self.contract.row_id not in row:
            row = {self.contract.row_id: name, **row}
        return self._finished(row, metadata, changes)

    def field(self, column: str) -> str | None:
        """The field that a column fills: by the map, else by its own name."""
        for field, name in self.names.items():
            if name == column:
                return field
        own = self.columns.short.get(column, column)
        is_free = own in self.columns.fields and own not in self.names
        return own if is_free else None

    def _finished(self, row: JsonObject, metadata: JsonObject, changes: list[Change]) -> Imported:
        given = row.get("metadata")
        if isinstance(given, dict):
            metadata = {**metadata, **given}
        if metadata and (given is None or isinstance(given, dict)):
            row["metadata"] = metadata
        key = self.contract.row_id
        if key not in row:
            row = {key: content_id("row", row), **row}
            message = "no column holds ids, so they are made of what the rows say"
            changes.append(Change(key, message, is_lost=False))
        if self.columns.complete:
            row = self.columns.complete(row, self.dataset)
        return Imported(row, tuple(changes))


def _text(value: JsonValue) -> str:
    """What is said somewhere in a value."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return "\n".join(map(_text, parts))
    return str(value)


def _put(row: JsonObject, field: str, value: JsonValue) -> None:
    outer, _, inner = field.partition(".")
    if inner:
        fields(row.setdefault(outer, {}))[inner] = value
    else:
        row[outer] = value
