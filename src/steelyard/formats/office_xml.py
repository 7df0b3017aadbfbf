"""The XML parts of office files: elements one after the other, without entities of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from steelyard.errors import ParseError

_DEEPEST = 1000


class Mark(NamedTuple):
    """The beginning or the end of an element, by its local name, with what is said before."""

    name: str
    is_end: bool
    attributes: dict[str, str]
    text: str
    """What stands between the mark before and this one."""


def marks(data: bytes) -> Iterator[Mark]:
    """The marks of a part in order; a ParseError where it is not well formed, or declares more."""
    found: list[Mark] = []
    texts: list[str] = []
    depth = 0

    def add(name: str, attributes: dict[str, str], *, is_end: bool) -> None:
        nonlocal depth
        depth += -1 if is_end else 1
        if depth > _DEEPEST:
            raise ParseError("its XML is nested too deeply", code="unreadable_file")
        found.append(Mark(name.rpartition(" ")[2], is_end, attributes, "".join(texts)))
        texts.clear()

    def refuse(*_declared: object) -> None:
        raise ParseError("its XML declares a document type", code="unreadable_file")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, given: add(name, given, is_end=False)
    parser.EndElementHandler = lambda name: add(name, {}, is_end=True)
    parser.CharacterDataHandler = texts.append
    parser.StartDoctypeDeclHandler = refuse
    try:
        for start in range(0, len(data), 1 << 16):
            parser.Parse(data[start : start + (1 << 16)], False)  # noqa: FBT003
            yield from found
            found.clear()
        parser.Parse(b"", True)  # noqa: FBT003
    except expat.ExpatError:
        raise ParseError("its XML is damaged", code="unreadable_file") from None
    yield from found
