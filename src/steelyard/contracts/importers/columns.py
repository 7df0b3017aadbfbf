"""Tables: the columns of a row to the fields of a contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from steelyard.contracts.importers.source_row import (
    CHOICES,
    Import,
    Imported,
    choices_of,
    content_id,
    offered,
    structured,
    unheld_choices,
    whole,
    wrong,
)
from steelyard.errors import UsageError
from steelyard.formats.names import did_you_mean
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue

Reading = Callable[[JsonValue, str], JsonValue]


def _text(value: JsonValue, name: str) -> JsonValue:
    if isinstance(value, bool | dict | list):
        raise wrong(f"column '{name}' must hold a text")
    return (
        value if isinstance(value, str) else str(value if whole(value) is None else whole(value))
    )


def _texts(value: JsonValue, name: str) -> JsonValue:
    """A list, also written as JSON; one text is a list of one."""
    if isinstance(value, str):
        value = structured(value, name) if value.lstrip().startswith("[") else [value]
    return value


def _number(value: JsonValue, name: str) -> JsonValue:
    number = whole(value)
    if number is None:
        raise wrong(f"column '{name}' must hold a whole number")
    return number


def _flag(value: JsonValue, name: str) -> JsonValue:
    known = {"true": True, "1": True, "false": False, "0": False}
    said = known.get(str(value).strip().lower())
    if said is None:
        raise wrong(f"column '{name}' must hold true or false")
    return said


def _words(value: JsonValue, name: str) -> JsonValue:
    """A text; or a list or object, also written as JSON."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        return structured(value, name)
    return value if isinstance(value, dict | list) else _text(value, name)


_META: dict[str, Reading] = {"metadata": structured}
FIELDS: dict[str, dict[str, Reading]] = {
    "legal_eval": {
        **dict.fromkeys(("id", "dataset", "task_type", "prompt", "context"), _text),
        **dict.fromkeys(("messages", "attachments", "rubric"), structured),
        **dict.fromkeys(("reference_answers", "correct_choice_ids"), _texts),
        "choices": choices_of,
        **_META,
    },
    "dataset_document": {
        **dict.fromkeys(("record_id", "input.prompt", "reference.answer"), _text),
        **dict.fromkeys(("tags", "expected.required_criteria"), _texts),
        "expected.max_latency_ms": _number,
        **_META,
    },
    "question_set": {
        **dict.fromkeys(("id", "input", "rubric_ref", "bundle"), _text),
        **dict.fromkeys(("criteria", "expected"), _words),
        **dict.fromkeys(("expected_facts", "expected_tools"), _texts),
        **_META,
    },
    "eval_cases": {
        **dict.fromkeys(("id", "expected_outcome", "conversation_id"), _text),
        **dict.fromkeys(("input", "expected_output"), _words),
        **dict.fromkeys(("input_messages", "expected_messages", "evaluators"), structured),
        **dict.fromkeys(("tags", "rubrics"), _texts),
        **_META,
    },
    "evals_json": {
        **dict.fromkeys(("id", "prompt", "expected_output"), _text),
        **dict.fromkeys(("expectations", "must_contain_any", "must_not_contain"), _texts),
        "check_php_lint": _flag,
        **_META,
    },
}
"""The fields of each contract that a column can fill, and how a cell is read for it."""
SHORT = {
    "dataset_document": {
        "id": "record_id",
        "input": "input.prompt",
        "prompt": "input.prompt",
        "answer": "reference.answer",
    },
}
"""Other names for fields that stand inside of others."""
_ASKED = ("input", "input_messages", "prompt")
_IDS = {"dataset_document": "record_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Which column fills which field of a contract."""

    contract: str
    dataset: str
    names: Mapping[str, str]

    @classmethod
    def checked(cls, contract: str, dataset: str, names: Mapping[str, str]) -> ColumnMap:
        """A map whose fields the contract has; raises UsageError for another."""
        known = FIELDS[contract]
        short = SHORT.get(contract, {})
        full: dict[str, str] = {}
        for name, column in names.items():
            field = short.get(name, name)
            if field not in known and not field.startswith("metadata."):
                hint = did_you_mean(name, (*known, *short))
                listed = ", ".join((*known, "metadata.NAME"))
                meant = f" ({hint})" if hint else ""
                raise UsageError(
                    f"--map {name}={column}: {contract} has no field '{name}'{meant}; "
                    f"columns can fill {listed}"
                )
            full[field] = column
        return cls(contract=contract, dataset=dataset, names=full)

    def imported(self, record: JsonObject) -> Import:
        """The row that a table's row stands for, unless the contract cannot hold its question."""
        made = self.row(record)
        if self.contract == "legal_eval":
            return made
        unread: JsonObject = {
            name: record.get(name) for name in CHOICES if self._field(name) is None
        }
        asked = [made.row[name] for name in _ASKED if name in made.row]
        return unheld_choices(offered(unread), "\n".join(map(_said, asked))) or made

    def row(self, record: JsonObject) -> Imported:
        """The contract's row that a table's row stands for; raises ParseError for a wrong cell."""
        for field, column in self.names.items():
            if column not in record:
                listed = ", ".join(f"'{name}'" for name in record)
                raise wrong(f"--map {field}={column}: there is no such column; there are {listed}")
        row: JsonObject = {}
        metadata: JsonObject = {}
        changes: list[Change] = []
        for column, value in record.items():
            if value is None or value == "":
                continue
            field = self._field(column)
            if field is None:
                metadata[column] = value
                changes.append(Change(column, "kept in metadata", is_lost=False))
            elif field.startswith("metadata."):
                metadata[field.removeprefix("metadata.")] = value
            else:
                _put(row, field, FIELDS[self.contract][field](value, column))
        return self._finished(row, metadata, changes)

    def _field(self, column: str) -> str | None:
        """The field that a column fills: by the map, else by its own name."""
        for field, name in self.names.items():
            if name == column:
                return field
        own = SHORT.get(self.contract, {}).get(column, column)
        is_free = own in FIELDS[self.contract] and own not in self.names
        return own if is_free else None

    def _finished(self, row: JsonObject, metadata: JsonObject, changes: list[Change]) -> Imported:
        given = row.get("metadata")
        if isinstance(given, dict):
            metadata = {**metadata, **given}
        if metadata and (given is None or isinstance(given, dict)):
            row["metadata"] = metadata
        key = _IDS.get(self.contract, "id")
        if key not in row:
            row = {key: content_id("row", row), **row}
            message = "no column holds ids, so they are made of what the rows say"
            changes.append(Change(key, message, is_lost=False))
        if self.contract == "legal_eval":
            row = _legal(row, self.dataset)
        return Imported(row, tuple(changes))


def _said(value: JsonValue) -> str:
    """What is said somewhere in a value."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return "\n".join(map(_said, parts))
    return str(value)


def _put(row: JsonObject, field: str, value: JsonValue) -> None:
    outer, _, inner = field.partition(".")
    if inner:
        cast(JsonObject, row.setdefault(outer, {}))[inner] = value
    else:
        row[outer] = value


def _legal(row: JsonObject, dataset: str) -> JsonObject:
    """The fields that legal_eval asks for and that follow from the others."""
    by_field = (("choices", "mcq"), ("rubric", "rubric_qa"), ("reference_answers", "reference_qa"))
    task_type = next((kind for field, kind in by_field if field in row), None)
    given: JsonObject = {"schema_version": "legal_eval_v1", "id": row["id"], "dataset": dataset}
    return {**given, **({"task_type": task_type} if task_type else {}), **row}
