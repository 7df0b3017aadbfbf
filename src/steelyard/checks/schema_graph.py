"""The subschemas of a JSON Schema and what each leads to, through nesting and references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeAlias, cast

Node: TypeAlias = dict[str, Any]


class _Every(Enum):
    CHILD = "every child"


EVERY = _Every.CHILD
Step: TypeAlias = str | _Every | None
"""Where an edge leads in the value: to a member, to every child, or to the same place."""
_SAME_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_SAME_PLACE_MAPS = ("dependentSchemas", "dependencies")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_CHILDREN = (
    *("additionalProperties", "unevaluatedProperties", "propertyNames", "items", "prefixItems"),
    *("additionalItems", "unevaluatedItems", "contains"),
)
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*")
_QUOTED = re.compile(r"(?:%[0-7][0-9A-Fa-f])+")
_KNOWN_ADDRESSES = ("http://json-schema.org/", "https://json-schema.org/")


class Edge(NamedTuple):
    """A subschema that is applied where another one is."""

    node: Node
    step: Step


class SchemaGraph:
    """Finds the subschemas that a subschema applies."""

    def __init__(self, schema: Node) -> None:
        self.schema = schema
        self.unresolved: list[str] = []
        """References that lead to no place in the schema."""
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Node] = {"": schema}
        self._anchors: dict[tuple[str, str], Node] = {}
        self._look(schema)

    def edges(self, node: Node) -> Iterator[Edge]:
        """What a subschema applies, once for each time that it is applied."""
        # To know what is left over, the subschemas of the same place are applied once more.
        times = 2 if any(key in node for key in _UNEVALUATED) else 1
        for key, value in node.items():
            if key in _REFERENCES and isinstance(value, str):
                found = self._resolved(value, self._bases.get(id(node), ""))
                yield from (Edge(one, None) for one in found for _ in range(times))
            elif key in _SAME_PLACE:
                yield from (Edge(one, None) for one in _nodes(value) for _ in range(times))
            elif key in _SAME_PLACE_MAPS:
                yield from (Edge(one, None) for _, one in _map(value) for _ in range(times))
            elif key in _CHILDREN:
                yield from (Edge(one, EVERY) for one in _nodes(value))
            elif key == "properties":
                yield from (Edge(one, name) for name, one in _map(value))
            elif key == "patternProperties":
                yield from (Edge(one, EVERY) for _, one in _map(value))

    def _resolved(self, name: str, base: str) -> Iterator[Node]:
        address, fragment = (base, name[1:]) if name[:1] == "#" else _address(base, name)
        resource = self._resources.get(address)
        found = None
        if resource is not None and fragment[:1] in {"", "/"}:
            found = _pointed(resource, fragment)
        elif resource is not None:
            found = self._anchors.get((address, fragment))
        if isinstance(found, dict):
            yield cast(Node, found)
        elif not isinstance(found, bool) and not address.startswith(_KNOWN_ADDRESSES):
            self.unresolved.append(name)

    def _look(self, schema: Node) -> None:
        """Note the address of every subschema, and where each address and anchor leads."""
        is_old = "draft-04" in str(schema.get("$schema"))
        waiting: list[tuple[Any, str]] = [(schema, "")]
        while waiting:
            value, base = waiting.pop()
            if isinstance(value, dict):
                node = cast(Node, value)
                base = self._note(node, base, node.get("id" if is_old else "$id"))
                waiting.extend((one, base) for one in node.values())
            elif isinstance(value, list):
                waiting.extend((one, base) for one in cast("list[Any]", value))

    def _note(self, node: Node, base: str, name: object) -> str:
        if isinstance(name, str) and name[:1] == "#":
            self._anchors.setdefault((base, name[1:]), node)
        elif isinstance(name, str):
            base = _address(base, name)[0]
            self._resources.setdefault(base, node)
        for key in ("$anchor", "$dynamicAnchor"):
            anchor = node.get(key)
            if isinstance(anchor, str):
                self._anchors.setdefault((base, anchor), node)
        self._bases[id(node)] = base
        return base


def _nodes(value: object) -> Iterator[Node]:
    """The subschemas that a keyword has; `true` and `false` apply nothing."""
    for one in cast("Sequence[object]", value) if isinstance(value, list) else (value,):
        if isinstance(one, dict):
            yield cast(Node, one)


def _map(value: object) -> Iterator[tuple[str, Node]]:
    if isinstance(value, dict):
        for name, one in cast("Mapping[str, object]", value).items():
            if isinstance(one, dict):
                yield name, cast(Node, one)


def _address(base: str, name: str) -> tuple[str, str]:
    """The address that a name means where another one stands, and what follows its `#`."""
    address, _, fragment = name.partition("#")
    if not base or _ABSOLUTE.match(address):
        return address, fragment
    host = _HOST.match(base)
    begin = host[0] if host and address[:1] == "/" else base.rpartition("/")[0] + "/"
    return (begin + address if address else base), fragment


def _unquoted(text: str) -> str:
    """A text with `%41` and the like as the characters they stand for."""
    return _QUOTED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)


def _pointed(value: object, pointer: str) -> object:
    """The value that a JSON pointer leads to; None where it leads nowhere."""
    for part in pointer.split("/")[1:]:
        name = _unquoted(part).replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = cast("Mapping[str, object]", value).get(name)
        elif isinstance(value, list) and name.isdecimal():
            value = cast("list[object]", value)[int(name) :][:1]
            value = value[0] if value else None
        else:
            return None
    return value
