"""A JSON value with variables that each request fills."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from steelyard.errors import ConfigError, TargetError
from steelyard.formats.json_place import parse_path
from steelyard.formats.names import did_you_mean
from steelyard.model.json_value import JsonObject, JsonValue, Path, path_text

# Up to the next pair of braces, whichever it is, so that no text is looked through twice.
_VARIABLE = re.compile(r"\{\{((?:[^{}]++|\{(?!\{)|\}(?!\}))*+)\}\}")


class JsonTemplate:
    """A value whose strings may name what is put in their place, as in `{{ prompt }}`.

    A string that is one variable and nothing else becomes the value itself, of whatever type. In
    a longer string a text stands as it is and any other value as JSON. What was put in is never
    looked through again.
    """

    def __init__(self, value: JsonValue, place: str, known: Mapping[str, tuple[str, ...]]) -> None:
        """`known` has the names of the variables, with the fields of those that are objects."""
        self._value = value
        found = list(_variables(value, place))
        self.has_variables = bool(found)
        for name, where in found:
            _require_known(name, where, known)

    def filled(self, values: JsonObject) -> JsonValue:
        """The value for one request."""
        return _filled(self._value, values)


def value_at(value: JsonValue, path: Path) -> tuple[bool, JsonValue]:
    """Whether a path leads anywhere in a value, and to what."""
    for part in path:
        if isinstance(value, dict) and isinstance(part, str) and part in value:
            value = value[part]
            continue
        if not (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            return False, None
        value = value[part]
    return True, value


def _variables(value: JsonValue, place: str) -> Iterator[tuple[str, str]]:
    """The name of every variable, and where it stands."""
    if isinstance(value, str):
        yield from ((name.strip(), place) for name in _VARIABLE.findall(value))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _variables(item, f"{place}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _variables(item, f"{place}.{key}")


def _require_known(name: str, where: str, known: Mapping[str, tuple[str, ...]]) -> None:
    path = parse_path(name)
    first = path[0] if path and path_text(path) == name else name
    if first not in known:
        _refuse(name, where, str(first), tuple(known))
    fields = known[str(first)]
    if len(path) > 1 and path[1] not in fields:
        names = tuple(f"{first}.{field}" for field in fields) or tuple(known)
        _refuse(name, where, f"{first}.{path[1]}", names)


def _refuse(name: str, where: str, near: str, names: tuple[str, ...]) -> None:
    hint = did_you_mean(near, names)
    meant = f" ({hint})" if hint else ""
    raise ConfigError(
        f"{where}: unknown variable {{{{ {name} }}}}{meant}; known: {', '.join(names)}"
    )


def _filled(value: JsonValue, values: JsonObject) -> JsonValue:
    if isinstance(value, str):
        return _text(value, values)
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, values) for key, item in value.items()}
    return value


def _text(text: str, values: JsonObject) -> JsonValue:
    alone = _VARIABLE.fullmatch(text)
    if alone and len(_VARIABLE.findall(text)) == 1:
        return _named(alone[1].strip(), values)
    return _VARIABLE.sub(lambda found: as_text(_named(found[1].strip(), values)), text)


def _named(name: str, values: JsonObject) -> JsonValue:
    is_there, found = value_at(values, parse_path(name))
    if not is_there:
        raise TargetError("bad_request", f"the case has no '{name.partition('.')[2]}'")
    return found


def as_text(value: JsonValue) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
