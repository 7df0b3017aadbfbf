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


def plain(value: JsonValue, name: str) -> JsonValue:
    """A text exactly as it stands, whatever it looks like; lists and objects are kept."""
    return value if isinstance(value, dict | list) else text(value, name)


def asked(value: JsonValue, name: str) -> JsonValue:
    """What is asked: a text, or messages, also written as JSON."""
    listed = _listed(value, name) if isinstance(value, str) else None
    return listed if listed and _are_messages(listed) else plain(value, name)


def answer(value: JsonValue, name: str) -> JsonValue:
    """The one answer that is expected; raises ParseError for several, which are no one text.

    A text is taken as it stands, unless it is a list of texts: a file like CSV can only
    write several answers so.
    """
    if isinstance(value, dict):
        raise wrong(
            f"column '{name}' holds an object, but an expected answer is one text; "
            "name a column with texts"
        )
    if isinstance(value, list):
        return _only(value, name)
    listed = _listed(value, name) if isinstance(value, str) else None
    if listed and all(isinstance(one, str) for one in listed):
        raise _several(listed, name, "the text of a list")
    return text(value, name)


def _only(listed: list[JsonValue], name: str) -> JsonValue:
    """The one text of a list, or its messages."""
    if len(listed) == 1 and isinstance(listed[0], str):
        return listed[0]
    if listed and _are_messages(listed):
        return listed
    raise _several(listed, name, "a list")


def _several(listed: list[JsonValue], name: str, what: str) -> ParseError:
    count = f"{len(listed)} answer{'' if len(listed) == 1 else 's'}"
    return wrong(
        f"column '{name}' holds {what} with {count}, but an expected answer is one text; name "
        "a column with texts, or convert the table to legal_eval, whose reference_answers keep "
        "several"
    )


def _listed(value: str, name: str) -> list[JsonValue] | None:
    """The list that a text is, as JSON or as Python writes it."""
    if value.lstrip().startswith("["):
        with suppress(ParseError):
            found = structured(value, name)
            return found if isinstance(found, list) else None
    return None


def _are_messages(listed: list[JsonValue]) -> bool:
    return all(isinstance(one, dict) and "role" in one for one in listed)
