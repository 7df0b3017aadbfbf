"""What every importer does with the row of a source: look up columns, name the case."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from steelyard.errors import ParseError
from steelyard.formats.json_fields import list_field
from steelyard.formats.json_text import parse_json
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

CHOICES = ("choices", "options")
NO_CHOICES = "its choices have no place in a case of this contract; legal_eval holds them"
_ID_LENGTH = 16
_MAX_DIGITS = 18


class Imported(NamedTuple):
    """A row of a contract, and what of its source did not come over."""

    row: JsonObject
    changes: tuple[Change, ...] = ()


Import: TypeAlias = Imported | Refusal


class Columns:
    """The columns of one source row, found whatever their case; null and "" count as absent."""

    def __init__(self, record: JsonObject) -> None:
        self._record = record
        self._names = {name.casefold(): name for name in record}
        self._taken: set[str] = set()

    def take(self, name: str) -> JsonValue:
        """The value of a column that the importer understands; None where there is none."""
        written = self._names.get(name.casefold())
        if written is None:
            return None
        self._taken.add(written)
        value = self._record[written]
        return None if value == "" else value

    def text(self, name: str) -> str:
        """A text that must be there; raises ParseError where it is not."""
        value = self.take(name)
        if not isinstance(value, str) or not value.strip():
            raise wrong(f"column '{name}' must hold a text{_but(value)}")
        return value

    def label(self, name: str) -> str:
        """An id that must be there, as a text or a whole number."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise wrong(f"column '{name}' must hold an id{_but(value)}")
        number = whole(value)
        text = str(value if number is None or isinstance(value, str) else number).strip()
        if not text:
            raise wrong(f"column '{name}' must hold an id, but is blank")
        return text

    def rest(self) -> JsonObject:
        """What stands in the other columns."""
        return {
            name: value
            for name, value in self._record.items()
            if name not in self._taken and value not in (None, "")
        }


def wrong(message: str) -> ParseError:
    """The error of a row that is not of the source's shape."""
    return ParseError(message, code="invalid_field_type")


def whole(value: JsonValue) -> int | None:
    """A whole number, also where a table made it a float or a text; else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    written = value.strip().removesuffix(".0") if isinstance(value, str) else ""
    return int(written) if written.isdecimal() and len(written) <= _MAX_DIGITS else None


def structured(value: JsonValue, name: str) -> JsonValue:
    """A list or object, also where a table holds it as JSON or as Python writes it."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode("utf-8", "surrogatepass"))
    except ParseError as error:
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise wrong(f"column '{name}' holds no JSON: {error}") from None


def texts(value: JsonValue, name: str) -> list[str]:
    """A list of texts that must be there."""
    value = structured(value, name)
    given = value if isinstance(value, list) else []
    found = [item for item in given if isinstance(item, str) and item.strip()]
    if not found or len(found) < len(given):
        raise wrong(f"column '{name}' must hold a list of texts{_but(value)}")
    return found


def content_id(source: str, *parts: JsonValue) -> str:
    """An id made of what a row says, so that it is the same in any order and at any time."""
    return f"{source}:{content_hash(*parts)}"


def content_hash(*parts: JsonValue) -> str:
    """A short hash of values, whatever the order of their keys."""
    text = json.dumps(list(parts), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return digest[:_ID_LENGTH]


def choice_ids(count: int) -> list[str]:
    """A, B, … Z, AA, AB, …"""
    return [_letters(number) for number in range(count)]


def mcq(options: list[str], correct: int) -> JsonObject:
    """The choices of a multiple-choice row and which of them is right."""
    ids = choice_ids(len(options))
    if not 0 <= correct < len(options):
        raise wrong(f"the right answer is option {correct}, but there are {len(options)}")
    return {
        "choices": [{"id": name, "text": text} for name, text in zip(ids, options, strict=True)],
        "correct_choice_ids": [ids[correct]],
    }


def choices_of(value: JsonValue, name: str) -> JsonValue:
    """Choices: objects as they are, texts under letters, or lists of labels and texts."""
    value = structured(value, name)
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        listed = list_field(value, "text")
        labels = value.get("label")
        ids = labels if isinstance(labels, list) else choice_ids(len(listed))
        return [{"id": key, "text": text} for key, text in zip(ids, listed, strict=False)]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        ids = choice_ids(len(value))
        return [{"id": key, "text": text} for key, text in zip(ids, value, strict=True)]
    return value


def offered(record: JsonObject) -> list[JsonObject]:
    """The choices that a record offers under the names that sources give them, if it does."""
    for name in CHOICES:
        try:
            value = choices_of(record.get(name), name)
        except ParseError:
            continue
        listed = value if isinstance(value, list) else []
        found = [item for item in listed if isinstance(item, dict) and "text" in item]
        if len(found) > 1 and len(found) == len(listed):
            return found
    return []


def unheld_choices(choices: list[JsonObject], asked: str) -> Refusal | None:
    """Why a contract without choices cannot hold a question, unless its words name them all."""
    texts = [str(choice["text"]) for choice in choices]
    if all(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", asked) for text in texts):
        return None
    return Refusal("left_out", NO_CHOICES, "choices")


def legal_row(name: str, dataset: str, task_type: str, prompt: str) -> JsonObject:
    """The fields that every row of legal_eval has."""
    return {
        "schema_version": "legal_eval_v1",
        "id": name,
        "dataset": dataset,
        "task_type": task_type,
        "prompt": prompt,
    }


def _letters(number: int) -> str:
    first, last = divmod(number, len(ascii_uppercase))
    return (_letters(first - 1) if first else "") + ascii_uppercase[last]


def _but(value: JsonValue) -> str:
    if value is None:
        return ", but is absent"
    shown = json.dumps(value, ensure_ascii=False)
    return f", but holds {shown if len(shown) <= 40 else shown[:37] + '...'}"


def one_of(answers: list[str]) -> str:
    """A goal in words for a case whose source knows several good answers."""
    return "\n".join(["The answer agrees with one of these:", *(f"- {text}" for text in answers)])
