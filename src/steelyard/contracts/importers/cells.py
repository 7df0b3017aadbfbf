"""How a cell of a table is read for a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

from steelyard.contracts.importers.source_row import structured, whole, wrong
from steelyard.errors import ParseError
from steelyard.model.json_value import JsonObject, JsonValue

Reading: TypeAlias = Callable[[JsonValue, str], JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellColumns:
    """What the columns of a table can fill in the rows of a contract."""

    fields: Mapping[str, Reading]
    """The fields, and how a cell is read for each; metadata comes beside them."""
    short: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other names for fields that stand inside of others."""
    holds_choices: bool = False
    """Whether a question may offer choices."""
    complete: Callable[[JsonObject, str], JsonObject] | None = None
    """Adds to a row of a dataset the fields that follow from the others."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", {**self.fields, "metadata": structured})


def text(value: JsonValue, name: str) -> JsonValue:
    """A text; a number is written as one."""
    if isinstance(value, bool | dict | list):
        raise wrong(f"column '{name}' must hold a text")
    return (
        value if isinstance(value, str) else str(value if whole(value) is None else whole(value))
    )


def texts(value: JsonValue, name: str) -> JsonValue:
    """A list, also written as JSON; one text is a list of one."""
    if isinstance(value, str):
        value = structured(value, name) if value.lstrip().startswith("[") else [value]
    return value


def number(value: JsonValue, name: str) -> JsonValue:
    """A whole number."""
    found = whole(value)
    if found is None:
        raise wrong(f"column '{name}' must hold a whole number")
    return found


def flag(value: JsonValue, name: str) -> JsonValue:
    """True or false, in letters or digits."""
    known = {"true": True, "1": True, "false": False, "0": False}
    converted = known.get(str(value).strip().lower())
    if converted is None:
        raise wrong(f"column '{name}' must hold true or false")
    return converted


def words(value: JsonValue, name: str) -> JsonValue:
    """A text; or a list or object, also written as JSON."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        return structured(value, name)
    return value if isinstance(value, dict | list) else text(value, name)


def said(value: JsonValue, name: str) -> JsonValue:
    """What is asked or answered: a text that only begins like JSON is a text."""
    with suppress(ParseError):
        return words(value, name)
    return text(value, name)
