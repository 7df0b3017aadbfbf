"""The kinds of checks by name; built-ins and plug-ins come in through the same door."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, cast

from steelyard.checks.equals import Equals
from steelyard.checks.latency import Latency
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.must_not_contain import MustNotContain
from steelyard.checks.regex import Regex
from steelyard.errors import NotFoundError, UsageError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.rubric import Check

BUILT_IN: tuple[type[Check], ...] = (Equals, Latency, MustContainAny, MustNotContain, Regex)
_SIMPLE: dict[object, JsonObject] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}


class Catalog:
    """Finds a check's class by its kind."""

    def __init__(self, kinds: Iterable[type[Check]] = BUILT_IN) -> None:
        self._kinds: dict[str, type[Check]] = {}
        for made in kinds:
            if made.kind in self._kinds:
                raise UsageError(f"two kinds of check are called '{made.kind}'")
            self._kinds[made.kind] = made

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        return tuple(sorted(self._kinds))

    def make(self, kind: str, settings: Mapping[str, JsonValue]) -> Check:
        """A check from its settings, whose shape has been checked by `fragment`."""
        if kind not in self._kinds:
            known = ", ".join(self.kinds)
            raise NotFoundError(f"unknown check kind '{kind}'; known kinds: {known}")
        frozen = {name: _frozen(value) for name, value in settings.items()}
        return cast(Any, self._kinds[kind])(**frozen)

    def fragment(self, kind: str) -> JsonObject:
        """The schema of a kind's settings, made from its dataclass."""
        made = cast(Any, self._kinds[kind])
        hints = typing.get_type_hints(made)
        properties: JsonObject = {}
        required: list[JsonValue] = []
        for setting in fields(made):
            if not setting.init:
                continue
            properties[setting.name] = _rule(hints[setting.name])
            if setting.default is MISSING and setting.default_factory is MISSING:
                required.append(setting.name)
        return {"required": required, "properties": properties}


def _rule(hint: Any) -> JsonObject:
    """The schema of one setting by its type."""
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "minItems": 1, "items": _rule(arguments[0])}
    given = [argument for argument in arguments if argument is not type(None)]
    if origin in {types.UnionType, typing.Union} and len(given) == 1:
        return _rule(given[0])
    raise UsageError(f"a check's setting cannot be of type {hint}")


def _frozen(value: JsonValue) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
