"""The spot in a file that a finding speaks of, to print under it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from steelyard.formats.encoding import without_bom
from steelyard.formats.json_place import parse_path, place_of
from steelyard.model.finding import Finding
from steelyard.ports import Workspace

_MAX_DOCUMENT = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One line of a file with the part that matters."""

    line: int
    text: str
    start: int = 0
    end: int = 0


def excerpts(
    workspace: Workspace, path: Path, findings: Iterable[Finding]
) -> dict[Finding, Excerpt]:
    """The excerpt of every finding that can be found in its file."""
    extension = path.suffix.lower()
    if extension == ".json":
        return _document_excerpts(workspace, path, findings)
    wanted: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.line is not None:
            wanted.setdefault(finding.line, []).append(finding)
    if not wanted:
        return {}
    shown: dict[Finding, Excerpt] = {}
    with workspace.open(path) as stream:
        for number, data in enumerate(stream, start=1):
            if number in wanted:
                text = without_bom(data).decode("utf-8", "replace").rstrip("\r\n")
                for finding in wanted.pop(number):
                    shown[finding] = _line_excerpt(finding, number, text, extension)
            if not wanted:
                break
    return shown


def _line_excerpt(finding: Finding, number: int, text: str, extension: str) -> Excerpt:
    path = parse_path(finding.path)
    if not path:
        return Excerpt(line=number, text=text)
    if extension == ".jsonl":
        start, end = place_of(text, path)
        return Excerpt(line=number, text=text, start=start, end=end)
    name = str(path[-1])
    start = max(0, text.find(name))
    found = name in text
    return Excerpt(line=number, text=text, start=start, end=start + len(name) if found else start)


def _document_excerpts(
    workspace: Workspace, path: Path, findings: Iterable[Finding]
) -> dict[Finding, Excerpt]:
    with workspace.open(path) as stream:
        data = stream.read(_MAX_DOCUMENT + 1)
    if len(data) > _MAX_DOCUMENT:
        return {}
    text = without_bom(data).decode("utf-8", "replace")
    return {finding: _spot(text, finding) for finding in findings}


def _spot(text: str, finding: Finding) -> Excerpt:
    if finding.line is not None:
        lines = text.split("\n")
        shown = lines[finding.line - 1] if finding.line <= len(lines) else ""
        return Excerpt(line=finding.line, text=shown.rstrip("\r"))
    start, end = place_of(text, parse_path(finding.path))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].rstrip("\r")
    return Excerpt(
        line=text.count("\n", 0, start) + 1,
        text=line,
        start=start - line_start,
        end=min(end - line_start, len(line)),
    )
