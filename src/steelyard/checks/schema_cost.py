"""How much work a JSON Schema makes: a few lines of references can stand for billions of steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush

from steelyard.checks.schema_graph import EVERY, Edge, Node, SchemaGraph
from steelyard.errors import SettingError
from steelyard.model.json_value import JsonValue

MAX_SUBSCHEMAS = 100_000
"""How many subschemas there may be, each counted once for every way that leads to it."""
MAX_DEPTH = 1000
"""How many subschemas may lead to one another; the validator's stack holds some thousands."""
MAX_STEPS = 50_000_000
"""How many subschemas may be applied to the values of one response: about a second of work."""
_MAX_LOOKS = 2_000_000
"""How many of them are looked at to find that out."""


class SchemaCost:
    """Bounds the work of one schema."""

    def __init__(self, schema: Node) -> None:
        """Refuse a schema that is too large; a SettingError says why."""
        self._graph = SchemaGraph(schema)
        self._edges: dict[int, list[Edge]] = {}
        order, self._is_recursive = self._ordered(lambda _: True)
        self._nodes = self._ordered(_stays, order)[0]
        """Each before those that it applies to the same place of a value."""
        self._place = {id(node): place for place, node in enumerate(self._nodes)}
        self._subschemas = self._counted(order)

    def require_resolved(self) -> None:
        """Refuse references that cannot be followed, and so not be counted."""
        for name in self._graph.unresolved:
            raise SettingError("schema", f"the reference '{name[:100]}' cannot be followed")

    def is_bearable(self, value: JsonValue, length: int) -> bool:
        """Whether a value, in a text of a length, can be validated in reasonable time."""
        if not self._is_recursive and self._subschemas * length <= MAX_STEPS:
            return True
        return self._has_few_steps(value)

    def _ordered(
        self, is_followed: Callable[[Edge], bool], starts: list[Node] | None = None
    ) -> tuple[list[Node], bool]:
        """Every subschema before those it leads to, and whether some lead back to themselves."""
        state: dict[int, bool] = {}
        done: list[Node] = []
        is_recursive = False
        for start in starts or [self._graph.schema]:
            if id(start) in state:
                continue
            state[id(start)] = False
            waiting = [(start, self._followed(start, is_followed))]
            while waiting:
                node, rest = waiting[-1]
                found = next(rest, None)
                if found is None:
                    waiting.pop()
                    state[id(node)] = True
                    done.append(node)
                elif len(state) > MAX_SUBSCHEMAS:
                    raise _too_many()
                elif len(waiting) > MAX_DEPTH:
                    raise _too_deep()
                elif id(found) not in state:
                    state[id(found)] = False
                    waiting.append((found, self._followed(found, is_followed)))
                else:
                    is_recursive |= not state[id(found)]
        return done[::-1], is_recursive

    def _followed(self, node: Node, is_followed: Callable[[Edge], bool]) -> Iterator[Node]:
        return (edge.node for edge in self._edges_of(node) if is_followed(edge))

    def _edges_of(self, node: Node) -> list[Edge]:
        if id(node) not in self._edges:
            self._edges[id(node)] = list(self._graph.edges(node))
        return self._edges[id(node)]

    def _counted(self, order: list[Node]) -> int:
        """The number of subschemas over all ways, but for ways that come back."""
        place = {id(node): number for number, node in enumerate(order)}
        ways, depth = Counter({id(self._graph.schema): 1}), Counter[int]()
        for node in order:
            for edge in self._edges_of(node):
                if place[id(edge.node)] > place[id(node)]:
                    ways[id(edge.node)] += ways[id(node)]
                    depth[id(edge.node)] = max(depth[id(edge.node)], depth[id(node)] + 1)
        if max(depth.values(), default=0) > MAX_DEPTH:
            raise _too_deep()
        total = sum(ways.values())
        if total > MAX_SUBSCHEMAS:
            raise _too_many()
        return total

    def _has_few_steps(self, value: JsonValue) -> bool:
        """Whether few subschemas are applied to a value and what is in it."""
        root = self._with_same_place(Counter({self._place[id(self._graph.schema)]: 1}))
        waiting, steps, looks = [(value, root)], root.total(), 0
        while waiting:
            one, applied = waiting.pop()
            looks += len(applied)
            every, named = self._below(applied)
            for name, child in _children(one):
                found = every if name is None else named.get(name, every)
                steps += found.total()
                if isinstance(child, dict | list):
                    waiting.append((child, found))
            if steps > MAX_STEPS or looks > _MAX_LOOKS:
                return False
        return True

    def _below(self, applied: Counter[int]) -> tuple[Counter[int], dict[str, Counter[int]]]:
        """What is applied to every child of a value, and to the members of some names."""
        every, named = Counter[int](), dict[str, Counter[int]]()
        for place, times in applied.items():
            for edge in self._edges_of(self._nodes[place]):
                if edge.step is EVERY:
                    every[self._place[id(edge.node)]] += times
                elif edge.step is not None:
                    named.setdefault(edge.step, Counter())[self._place[id(edge.node)]] += times
        return self._with_same_place(every), {
            name: self._with_same_place(every + found) for name, found in named.items()
        }

    def _with_same_place(self, applied: Counter[int]) -> Counter[int]:
        """What is applied to a value, with what that applies to the same value in turn."""
        found, waiting = applied.copy(), list(applied)
        heapify(waiting)
        while waiting:
            place = heappop(waiting)
            for edge in self._edges_of(self._nodes[place]):
                other = self._place[id(edge.node)]
                if edge.step is None and other > place:
                    if other not in found:
                        heappush(waiting, other)
                    found[other] += found[place]
        return found


def _too_many() -> SettingError:
    return SettingError("schema", f"it stands for more than {MAX_SUBSCHEMAS:,} subschemas")


def _too_deep() -> SettingError:
    return SettingError("schema", f"more than {MAX_DEPTH:,} subschemas lead to one another")


def _stays(edge: Edge) -> bool:
    return edge.step is None


def _children(value: JsonValue) -> Iterable[tuple[str | None, JsonValue]]:
    """The values in a value with their names; those of a list have none."""
    if isinstance(value, dict):
        return value.items()
    return ((None, one) for one in value) if isinstance(value, list) else ()
