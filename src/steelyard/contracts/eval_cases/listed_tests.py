"""The entries of `tests`: cases written out, and cases of other files that it names."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePath
from typing import NamedTuple

from steelyard.contracts.eval_cases.evaluators import FILE_SCHEME
from steelyard.contracts.eval_cases.spelling import CASES, UNREAD, written
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields, items
from steelyard.formats.json_text import parse_json
from steelyard.formats.jsonl import jsonl_lines
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.ports import FileFault, Files, FoundFile

_ONE_CASE = "case"
_READ = (".yaml", ".yml", ".jsonl")


class Entry(NamedTuple):
    """A case as it is written, and where."""

    value: JsonValue
    path: Path
    line: int
    """The line of the eval file, which for a case of another file names that file."""
    lines: Lines
    file: str | None = None
    """The other file in which it stands."""
    problem: Problem | None = None
    """Why there is no case."""


def entries(content: Located, name: str, files: Files) -> Iterator[Entry]:
    """Every case of a list, in order; a file that cannot be had is one entry with its problem."""
    listed = fields(content.value)[name]
    lines = content.lines.children.get(name, content.lines)
    if isinstance(listed, str):
        yield from _named(listed, (name,), lines, files)
        return
    for index, value in enumerate(items(listed)):
        at = lines.children[index]
        if name == "tests" and isinstance(value, str):
            yield from _named(value, (name, index), at, files)
        else:
            yield Entry(value, (name, index), at.line, at, problem=_unread_row(value))


def _unread_row(value: JsonValue) -> Problem | None:
    """Why a row of a table made no case: the reason names its place in the table."""
    reason = value.get(UNREAD) if isinstance(value, dict) else None
    if not isinstance(reason, str):
        return None
    return Problem(code="invalid_field_type", message=reason)


def _named(reference: str, path: Path, lines: Lines, files: Files) -> Iterator[Entry]:
    """The cases of the files that a path, a pattern or a folder names."""
    found = files.cases(reference.removeprefix(FILE_SCHEME))
    if isinstance(found, FileFault):
        problem = Problem(code=found.code, message=found.message, hint=found.hint)
        yield Entry(None, path, lines.line, lines, problem=problem)
        return
    for file in found:
        name = PurePath(file.path).name
        for one in _read(file):
            yield Entry(one.value, path, lines.line, one.lines, name, one.problem)


class _Case(NamedTuple):
    value: JsonValue
    lines: Lines
    problem: Problem | None = None


def _unread(wrong: ParseError, line: int, before: str = "") -> _Case:
    return _Case(None, Lines(line), Problem(code=wrong.code, message=f"{before}{wrong}"))


def _read(file: FoundFile) -> Iterator[_Case]:
    """The cases of a file; one that has none, or cannot be read, is one bad case."""
    is_empty = True
    try:
        for one in _cases(file):
            is_empty = False
            yield one
    except ParseError as wrong:
        yield _unread(wrong, wrong.line or 1)
        return
    if is_empty:
        yield _unread(ParseError("there is no case in it", code="value_out_of_range"), 1)


def _cases(file: FoundFile) -> Iterator[_Case]:
    path = PurePath(file.path)
    data = file.text.encode("utf-8")
    if path.suffix.lower() not in _READ:
        supported = ", ".join(_READ)
        raise ParseError(f"cases are read from {supported} files", code="unsupported_format")
    if path.suffix.lower() == ".jsonl":
        yield from _lines(data)
        return
    content = parse_yaml(data)
    if isinstance(content.value, dict) and written(content.value, CASES):
        message = "this is a suite with settings of its own, not a list of cases"
        raise ParseError(message, code="invalid_field_type", line=1)
    if isinstance(content.value, dict):
        yield _Case(_identified(content.value, path), content.lines)
        return
    if not isinstance(content.value, list):
        raise ParseError("a file of cases is a list of them", code="invalid_field_type", line=1)
    for index, value in enumerate(content.value):
        yield _Case(value, content.lines.children[index])


def _lines(data: bytes) -> Iterator[_Case]:
    """Every line; one that is no JSON is one bad case, so that the others are counted."""
    for number, text in jsonl_lines(BytesIO(data)):
        try:
            yield _Case(parse_json(text), Lines(number))
        except ParseError as wrong:
            yield _unread(wrong, number, "Invalid JSON - ")


def _identified(value: JsonObject, path: PurePath) -> JsonObject:
    """The case of a folder of cases, which may leave its id to the folder's name."""
    return value if path.stem != _ONE_CASE else {"id": path.parent.name, **value}
