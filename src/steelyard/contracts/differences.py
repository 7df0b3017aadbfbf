"""What differs between two versions of a rubric, a judge or a record, field by field."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.formats.json_fields import fields, items, text_field
from steelyard.formats.json_hash import canonical, canonical_whole, whole_numbers
from steelyard.model.difference import FieldDifference
from steelyard.model.json_value import JsonObject, JsonValue

_KEYS = {"checks": "id", "questions": "key", "options": "value", "criteria": "id"}
"""Lists whose items have a name: they are compared by it, wherever they stand."""
_GRADING: dict[str, tuple[str, ...]] = {
    "check_rubric": ("checks", "scoring"),
    "question_rubric": ("questions", "dimensions", "scale", "guidance", "scoring"),
    "judge": ("template", "score_type", "level_names", "examples"),
}
"""The fields on which a score depends, by contract."""
_FOR_PEOPLE = ("description",)


def definition_differences(
    old: JsonObject, new: JsonObject, contract: str
) -> tuple[FieldDifference, ...]:
    """The fields, checks and questions that were added, removed or changed.

    A difference is breaking where a score may depend on it: on what is asked, checked and
    counted, and not on what only describes.
    """
    graded = _GRADING[contract]
    old, new = (fields(whole_numbers(row)) for row in (old, new))
    return tuple(
        found
        for name in _names(old, new)
        for found in _differing(name, old, new, is_breaking=name in graded)
    )


def grading_bytes(row: JsonObject, contract: str) -> bytes:
    """What scores depend on, in a form that is the same however the file is laid out."""
    graded: JsonValue = {name: row[name] for name in _GRADING[contract] if name in row}
    if contract == "check_rubric":
        # What a question says about itself is shown to judges; what a check says is not.
        graded = _without_descriptions(graded)
    return canonical_whole(graded)


def _without_descriptions(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_without_descriptions(one) for one in value]
    if isinstance(value, dict):
        return {
            name: _without_descriptions(one)
            for name, one in value.items()
            if name not in _FOR_PEOPLE
        }
    return value


def record_differences(old: JsonValue, new: JsonValue, path: str) -> tuple[FieldDifference, ...]:
    """The fields of a record that differ; any of them makes it another record."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return tuple(_between(path, old, new, is_breaking=True))
    return tuple(
        found
        for name in _names(old, new)
        for found in _differing(name, old, new, prefix=f"{path}.", is_breaking=True)
    )


def _differing(
    name: str, old: JsonObject, new: JsonObject, *, prefix: str = "", is_breaking: bool
) -> Iterator[FieldDifference]:
    """What differs in one field of two objects."""
    path = f"{prefix}{name}"
    is_breaking = is_breaking and name not in _FOR_PEOPLE
    key = _KEYS.get(name)
    before, after = old.get(name), new.get(name)
    if key and _is_named(before, key) and _is_named(after, key):
        yield from _items(path, _by(before, key), _by(after, key), is_breaking=is_breaking)
    else:
        yield from _member(path, name, old, new, is_breaking=is_breaking)


def _member(
    path: str, name: str, old: JsonObject, new: JsonObject, *, is_breaking: bool
) -> Iterator[FieldDifference]:
    if name not in old:
        yield FieldDifference(kind="added", path=path, new=new[name], is_breaking=is_breaking)
    elif name not in new:
        yield FieldDifference(kind="removed", path=path, old=old[name], is_breaking=is_breaking)
    else:
        yield from _between(path, old[name], new[name], is_breaking=is_breaking)


def _between(
    path: str, old: JsonValue, new: JsonValue, *, is_breaking: bool
) -> Iterator[FieldDifference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in _names(old, new):
            yield from _differing(name, old, new, prefix=f"{path}.", is_breaking=is_breaking)
    elif canonical(old) != canonical(new):  # Python takes True for 1
        yield FieldDifference(kind="changed", path=path, old=old, new=new, is_breaking=is_breaking)


def _items(
    path: str, old: JsonObject, new: JsonObject, *, is_breaking: bool
) -> Iterator[FieldDifference]:
    """The differences between two lists of named items; a new order breaks nothing."""
    for name in _names(old, new):
        yield from _member(f"{path}.{name}", name, old, new, is_breaking=is_breaking)
    if list(old) != list(new) and old.keys() == new.keys():
        yield FieldDifference(kind="changed", path=f"{path} (order)", old=list(old), new=list(new))


def _names(old: JsonObject, new: JsonObject) -> list[str]:
    """The names of both, those of the old one first."""
    return list(dict.fromkeys((*old, *new)))


def _is_named(value: JsonValue, key: str) -> bool:
    """Whether a list holds objects identified by a key."""
    items = value if isinstance(value, list) else [None]
    names = [item.get(key) if isinstance(item, dict) else None for item in items]
    return all(isinstance(name, str) for name in names) and len(set(map(str, names))) == len(names)


def _by(value: JsonValue, key: str) -> JsonObject:
    return {text_field(fields(item), key): item for item in items(value)}
