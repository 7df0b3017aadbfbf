"""The assertions of an eval that say how to check the answer, without a judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steelyard.checks.regex import pattern_fault
from steelyard.formats.json_fields import fields, list_field, text_field
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue, Path

LISTS = ("expectations", "assertions")
"""The names under which evals list statements and assertions."""
_ONE = ("contains", "icontains", "equals", "starts_with", "ends_with", "regex")
_SEVERAL = ("contains_any", "contains_all", "icontains_any", "icontains_all")
TYPES = (*_ONE, *_SEVERAL, "is_json")
"""The types of assertions that are checks; the names are those of eval cases."""
_VALUES = ("value", "values", "pattern")
TEXTS = ("text", "description", "statement", "assertion", "check")
"""Under which names an object has a statement."""
_UNREAD = ("must_", "should_")
_FIELDS = {"must_contain_any", "must_not_contain"}
_INSTEAD = (
    "write must_contain_any, must_not_contain, or assertions with a type, such as "
    '{"type": "regex", "pattern": "…"}'
)


class _Stated(NamedTuple):
    """What an assertion with a type says."""

    type: str
    is_denied: bool
    name: str
    """The field that holds its value; nothing where it has none."""
    value: JsonValue


def check_of(entry: JsonValue, number: int) -> Evaluator | None:
    """The check that an assertion stands for; None for one that only a judge can decide."""
    stated = _stated(entry)
    if stated is None or stated.type not in TYPES:
        return None
    settings: JsonObject = {"required": True}
    if stated.name:
        is_listed = stated.type in _SEVERAL and isinstance(stated.value, str)
        settings["value"] = [stated.value] if is_listed else stated.value
    flags = fields(entry).get("flags")
    if stated.type == "regex" and flags:
        settings["flags"] = flags
    if stated.is_denied:
        settings["negate"] = True
    return Evaluator(name=_name(fields(entry), number), type=stated.type, settings=settings)


def assertion_problems(row: JsonObject) -> Iterator[Problem]:
    """Checks that cannot be made, and demands under names that nothing here reads."""
    for field in LISTS:
        for index, entry in enumerate(list_field(row, field)):
            stated = _stated(entry)
            if stated is not None:
                yield from _problems(fields(entry), stated, (field, index))
    for name in row:
        is_demand = name.startswith(_UNREAD) and name not in _FIELDS
        if is_demand and not did_you_mean(name, _FIELDS):
            message = f"unknown field '{name}': nothing looks for what it demands"
            yield Problem(
                code="unknown_field",
                message=message,
                path=(name,),
                hint=_INSTEAD,
                severity="warning",
            )


def _stated(entry: JsonValue) -> _Stated | None:
    """An assertion that names a type and a value for it; else it is a statement."""
    written = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(written, str):
        return None
    kind = written.casefold().replace("-", "_")
    is_denied = kind.startswith("not_")
    kind = kind.removeprefix("not_")
    name = next((one for one in _VALUES if one in entry), "")
    has_words = any(one in entry for one in TEXTS)
    if kind == "is_json" or (name and (kind in TYPES or not has_words)):
        denied = is_denied is not (entry.get("negate") is True)
        return _Stated(kind, denied, "" if kind == "is_json" else name, entry.get(name))
    return None


def _problems(entry: JsonObject, stated: _Stated, path: Path) -> Iterator[Problem]:
    if stated.type not in TYPES:
        message = f"{{}} must be {', '.join(TYPES)}, not '{entry['type']}'"
        hint = did_you_mean(stated.type, TYPES) or "or say in 'text' what a judge decides"
        yield Problem(code="invalid_enum_value", message=message, path=(*path, "type"), hint=hint)
    elif stated.name and (wrong := _fault(stated, entry.get("flags", ""))):
        code, message = wrong
        yield Problem(code=code, message=f"{{}} {message}", path=(*path, stated.name))


def _fault(stated: _Stated, flags: JsonValue) -> tuple[str, str] | None:
    value = stated.value
    listed = value if isinstance(value, list) and stated.type in _SEVERAL else [value]
    texts = [item for item in listed if isinstance(item, str)]
    if not texts or len(texts) < len(listed):
        wanted = "a list of texts" if stated.type in _SEVERAL else "a text"
        return "invalid_field_type", f"must be {wanted}"
    if not all(item.strip() for item in texts):
        return "value_out_of_range", "must not be blank"
    if stated.type == "regex" and (fault := pattern_fault(texts[0], str(flags))):
        return "value_out_of_range", f"is no pattern: {fault}"
    return None


def _name(entry: JsonObject, number: int) -> str:
    given = entry.get("name", entry.get("id"))
    return given if isinstance(given, str) and given.strip() else f"assertion-{number}"


def statements(row: JsonObject) -> Iterator[Evaluator]:
    """The checks among the assertions of an eval, then one evaluator for all statements."""
    listed = [entry for name in LISTS for entry in list_field(row, name)]
    items: list[RubricItem] = []
    for number, entry in enumerate(listed, start=1):
        check = check_of(entry, number)
        if check:
            yield check
        else:
            items.append(_item(entry, number))
    if items:
        yield Evaluator(name="statements", type="rubric", rubrics=tuple(items))


def _item(entry: JsonValue, number: int) -> RubricItem:
    """A statement as a text, or as an object that has one; ids may repeat, numbers do not."""
    name = f"statement-{number}"
    if isinstance(entry, str):
        return RubricItem(id=name, description=entry)
    stated = fields(entry)
    text = next(text_field(stated, field) for field in TEXTS if field in stated)
    return RubricItem(id=name, description=text)
