"""Which names a value has where, so that values of one shape are looked at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, cast

from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue

_MOST = 1024
_LEAF = None
_FURTHER = frozenset(("properties", "items", "allOf", "$ref"))


class Shapes:
    """The shapes of values in which no unknown name was worth a word.

    What is said of unknown names follows from the names, and from the constants that tell the
    kinds of an object apart; texts and numbers have no part in it.
    """

    def __init__(self, schema: JsonObject) -> None:
        self._named: set[str] = set()
        """The names under which the schema looks further."""
        self._telling: set[str] = set()
        """The names whose values tell kinds apart."""
        self._is_deep = False
        """Whether the schema looks further under any name."""
        for rule in _rules(schema):
            self._named.update(rule.get("properties", ()))
            self._telling.update(rule.get("if", {}).get("properties", ()))
            others = rule.get("additionalProperties")
            names = cast("dict[str, Any]", others) if isinstance(others, dict) else {}
            self._is_deep |= not _FURTHER.isdisjoint(names)
        self._innocent: set[Hashable] = set()

    def problems(
        self, value: JsonValue, look: Callable[[JsonValue], list[Problem]]
    ) -> list[Problem]:
        """The problems that a look finds; none where one has found none in the same shape."""
        shape = self._of(value)
        if shape in self._innocent:
            return []
        found = look(value)
        if not found:
            if len(self._innocent) >= _MOST:
                self._innocent.clear()
            self._innocent.add(shape)
        return found

    def _of(self, value: JsonValue) -> Hashable:
        if isinstance(value, dict):
            return tuple([(name, self._member(name, item)) for name, item in value.items()])
        if isinstance(value, list):
            return frozenset([self._of(item) for item in value])
        return _LEAF

    def _member(self, name: str, item: JsonValue) -> Hashable:
        if isinstance(item, dict | list):
            return self._of(item) if self._is_deep or name in self._named else _LEAF
        return (type(item), item) if name in self._telling else _LEAF


def _rules(node: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema."""
    if isinstance(node, dict):
        rule = cast("dict[str, Any]", node)
        yield rule
        node = list(rule.values())
    for item in cast("list[Any]", node) if isinstance(node, list) else ():
        yield from _rules(item)
