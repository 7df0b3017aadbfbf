"""Excerpts of a file that show the position of a finding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from steelyard.formats.encoding import without_bom
from steelyard.formats.json_place import parse_path, place_of
from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Path as ValuePath
from steelyard.ports import Workspace

_MAX_DOCUMENT = 16 * 1024 * 1024
# Characters of a long line kept on either side of the span; a report shows fewer.
_MARGIN = 400
_ARRAY = re.compile(r"\s*:\s*\[\s*")
_COMMA = re.compile(r"\s*,?\s*")
_decoder = json.JSONDecoder(strict=False)


class Excerpt(FrozenStruct, frozen=True, kw_only=True):
    """One line of a file, or the part of a long line around the position."""

    line: int
    text: str
    start: int = 0
    end: int = 0


def excerpts(
    workspace: Workspace, path: Path, findings: Iterable[Finding]
) -> dict[Finding, Excerpt]:
    """The excerpts of findings that have a position in the file, which is read once."""
    sought = list(findings)
    extension = path.suffix.lower()
    try:
        if sought and extension == ".json":
            return dict(_document_excerpts(workspace, path, sought))
        return dict(_line_excerpts(workspace, path, sought))
    except OSError:  # the finding itself says that the file cannot be read
        return {}


def with_lines(
    workspace: Workspace, path: Path, findings: Iterable[Finding]
) -> tuple[Finding, ...]:
    """The same findings, in which those of JSON have lines, too."""
    found = tuple(findings)
    spots = excerpts(workspace, path, found)
    return tuple(replace(one, line=spots[one].line) if one in spots else one for one in found)


def _line_excerpts(
    workspace: Workspace, path: Path, findings: list[Finding]
) -> Iterator[tuple[Finding, Excerpt]]:
    wanted: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.line is not None:
            wanted.setdefault(finding.line, []).append(finding)
    if not wanted:
        return
    extension = path.suffix.lower()
    with workspace.open(path) as stream:
        for number, data in enumerate(stream, start=1):
            if number not in wanted:
                continue
            text = without_bom(data).decode("utf-8", "replace").rstrip("\r\n")
            for finding in wanted.pop(number):
                span = _span(text, parse_path(finding.path), extension)
                yield finding, _excerpt(number, text, span, 0, len(text))
            if not wanted:
                return


def _span(text: str, path: ValuePath, extension: str) -> tuple[int, int]:
    """The span of a path in a line; empty if the line does not show it."""
    if not path:
        return 0, 0
    if extension == ".jsonl":
        return place_of(text, path)
    name = path[-1]
    key = re.search(rf"(?<![\w-]){re.escape(str(name))}(?=[\"']?\s{{0,99}}:)", text)
    return key.span() if key and isinstance(name, str) else (0, 0)


def _document_excerpts(
    workspace: Workspace, path: Path, findings: list[Finding]
) -> Iterator[tuple[Finding, Excerpt]]:
    with workspace.open(path) as stream:
        data = stream.read(_MAX_DOCUMENT + 1)
    if len(data) > _MAX_DOCUMENT:
        return
    text = without_bom(data).decode("utf-8", "replace")
    line, first, last = 1, 0, _line_end(text, 0)
    for span, finding in sorted(_places(text, findings), key=lambda placed: placed[0]):
        if span[0] > last:
            line += text.count("\n", first, span[0])
            first = text.rfind("\n", 0, span[0]) + 1
            last = _line_end(text, span[0])
        yield finding, _excerpt(line, text, span, first, last)


def _line_end(text: str, place: int) -> int:
    found = text.find("\n", place)
    return len(text) if found < 0 else found


def _places(text: str, findings: list[Finding]) -> Iterator[tuple[tuple[int, int], Finding]]:
    """The span of each finding in a document; every array of records is walked once."""
    paths = {finding: parse_path(finding.path) for finding in findings}
    wanted: dict[str, set[int]] = {}
    for path in paths.values():
        match path:
            case (str(name), int(index), *_):
                wanted.setdefault(name, set()).add(index)
            case _:
                pass
    items = {name: dict(_items(text, name, indices)) for name, indices in wanted.items()}
    for finding, path in paths.items():
        if finding.line is not None:
            start = _line_start(text, finding.line)
            yield (start, start), finding
            continue
        match path:
            case (str(name), int(index), *rest) if index in items[name]:
                first, last = items[name][index]
                start, end = place_of(text[first:last], tuple(rest)) if rest else (0, last - first)
                yield (first + start, first + end), finding
            case _:
                yield place_of(text, path), finding


def _items(text: str, name: str, indices: set[int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Start and end of the wanted items of a top-level array, as far as it can be read."""
    start, end = place_of(text, (name,))
    opened = _ARRAY.match(text, end)
    if opened is None or text[start:end] != f'"{name}"':
        return
    place = opened.end()
    try:
        for index in range(max(indices) + 1):
            _, end = _decoder.raw_decode(text, place)
            if index in indices:
                yield index, (place, end)
            gap = _COMMA.match(text, end)
            place = gap.end() if gap else end
    except (ValueError, RecursionError):
        return


def _line_start(text: str, line: int) -> int:
    place = 0
    for _ in range(line - 1):
        place = text.find("\n", place) + 1
        if not place:
            return len(text)
    return place


def _excerpt(line: int, text: str, span: tuple[int, int], first: int, last: int) -> Excerpt:
    """The line between two offsets; of a long line, only the part around the span."""
    left, right = max(first, span[0] - _MARGIN), min(last, span[0] + _MARGIN)
    shown = text[left:right].rstrip("\r")
    return Excerpt(
        line=line, text=shown, start=span[0] - left, end=min(span[1] - left, len(shown))
    )
