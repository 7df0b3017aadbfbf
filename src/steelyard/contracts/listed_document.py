"""A document with a header and a list of records, of which a bad one spoils no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from steelyard.contracts.reading import RowPlace, located_finding
from steelyard.errors import ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_keys import repeated_keys
from steelyard.formats.json_text import parse_json_either_way
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject, JsonValue, Path


class ListedDocument:
    """The header and the items of a document, and what is wrong with the document as a whole."""

    def __init__(
        self, content: bytes | Located, name: str, header: Schema, most: int | None = None
    ) -> None:
        """`name` is the field of the list; `header` the schema of the document without items."""
        self.name = name
        self.header: JsonObject = {}
        """Its fields; none where any of them is wrong."""
        self.items: list[JsonValue] = []
        self._lines = content.lines if isinstance(content, Located) else None
        self._odd: dict[int, list[Problem]] = {}
        self.findings = self._open(content, header, most)

    @property
    def is_spoiled(self) -> bool:
        """Whether the document as a whole is wrong, so that no item counts."""
        return any(finding.is_error for finding in self.findings)

    def odd(self, index: int) -> Sequence[Problem]:
        """What the fast parser could not read of an item."""
        return self._odd.get(index, ())

    def line(self, index: int) -> int | None:
        """Where an item begins."""
        lines = self._lines_of(index)
        return lines.line if lines else None

    def place(self, index: int, record_id: str | None) -> RowPlace:
        """Where an item stands."""
        return RowPlace(index, record_id, (self.name, index), lines=self._lines_of(index))

    def _lines_of(self, index: int) -> Lines | None:
        return self._lines and self._lines.children[self.name].children[index]

    def _open(
        self, content: bytes | Located, header: Schema, most: int | None
    ) -> tuple[Finding, ...]:
        try:
            value, odd = _parsed(content, most)
        except ParseError as wrong:
            message = f"invalid JSON: {wrong}" if wrong.code == "invalid_json" else str(wrong)
            return (error(wrong.code, message, line=wrong.line),)
        problems = [problem for problem in odd if not self._is_of_an_item(problem)]
        listed = value.get(self.name) if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(listed, list):
            self.items = listed
            # Items are checked one by one, not with the header; only that there is one is its.
            value = {**value, self.name: listed[:1]}
        problems.extend(one for one in header.problems(value) if not self._is_in_item(one.path))
        if isinstance(value, dict) and not any(one.severity == "error" for one in problems):
            self.header = value
        return tuple(located_finding(one, self._lines) for one in sorted(problems, key=path_order))

    def _is_in_item(self, path: Path) -> bool:
        return len(path) > 1 and path[0] == self.name

    def _is_of_an_item(self, problem: Problem) -> bool:
        """Whether a problem of the text concerns one item, which then keeps it."""
        match problem.path:
            case (self.name, int(index), *path):
                self._odd.setdefault(index, []).append(replace(problem, path=tuple(path)))
                return True
            case _:
                return False


def _parsed(content: bytes | Located, most: int | None) -> tuple[JsonValue, tuple[Problem, ...]]:
    """The value of a document, and what is wrong with single texts, numbers and keys in it."""
    if isinstance(content, Located):
        return content.value, ()
    if most is not None and len(content) > most:
        message = f"the file is larger than {most // 1024 // 1024} MB"
        raise ParseError(message, code="payload_too_large")
    require_utf8(content)
    text = without_bom(content)
    value, odd = parse_json_either_way(text)
    return value, (*odd, *repeated_keys(text, value))
