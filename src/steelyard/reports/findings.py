"""Validation results as text, JSON, GitHub annotations and JUnit."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol
from xml.etree import ElementTree as ET

from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject

_SHOWN = 20
_WINDOW = 88
# Valid in JSON, but interpreted by terminals or rejected by encoders.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Spot(Protocol):
    """A line of a file with the position of a finding."""

    @property
    def line(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class FileResult(Protocol):
    """What validation found in one file."""

    @property
    def path(self) -> str: ...
    @property
    def contract(self) -> str | None: ...
    @property
    def total(self) -> int: ...
    @property
    def accepted(self) -> int: ...
    @property
    def rejected(self) -> int: ...
    @property
    def is_valid(self) -> bool: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...


Spots = Mapping[Finding, Spot]
Paint = Callable[[str, str], str]
"""Applies a style to a text: error, warning, good, quiet."""


def plain(text: str, _style: str) -> str:
    """No colours."""
    return text


def printable(text: str, instead: str = "·") -> str:
    """Text without control characters."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else instead for char in text)


def findings_json(files: tuple[FileResult, ...]) -> str:
    """The machine-readable report."""
    report = {
        "files": [file_json(file) for file in files],
        "summary": {
            "files": len(files),
            "valid": sum(file.is_valid for file in files),
            "errors": _count(files, "error"),
            "warnings": _count(files, "warning"),
        },
    }
    text = json.dumps(report, ensure_ascii=False, indent=2)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def file_json(file: FileResult) -> JsonObject:
    """What was found in one file."""
    return {
        "path": file.path,
        "contract": file.contract,
        "valid": file.is_valid,
        "total": file.total,
        "accepted": file.accepted,
        "rejected": file.rejected,
        "findings": [finding_json(finding) for finding in file.findings],
    }


def finding_json(finding: Finding) -> JsonObject:
    """A finding in the order of the published shape."""
    return {
        "severity": finding.severity,
        "code": finding.code,
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "index": finding.index,
        "record_id": finding.record_id,
        "hint": finding.hint,
    }


def findings_text(
    file: FileResult, spots: Spots, paint: Paint = plain, shown: int = _SHOWN
) -> Iterator[str]:
    """One file as text: a headline, then each finding with its source line."""
    path = printable(file.path)
    mark = paint("ok", "good") if file.is_valid else paint("invalid", "error")
    counts = f"  {file.total:,} record(s): {file.accepted:,} accepted, {file.rejected:,} rejected"
    # Sidecars and unreadable files have no count of records.
    is_counted = file.total or (file.is_valid and file.path.endswith(".jsonl"))
    yield f"{path}  {file.contract or 'unknown'}{counts if is_counted else ''}  {mark}"
    for finding in file.findings[:shown]:
        yield from _finding_text(path, finding, spots.get(finding), paint)
    more = len(file.findings) - shown
    if more > 0:
        yield paint(f"  … and {more:,} more findings; --format json lists all", "quiet")


def shown_findings(file: FileResult) -> tuple[Finding, ...]:
    """The findings that the text report prints; they need source lines."""
    return file.findings[:_SHOWN]


def skipped_text(skipped: tuple[str, ...]) -> str:
    """The files of a folder that were skipped."""
    names = printable(", ".join(skipped[:3])) + (", …" if len(skipped) > 3 else "")
    return f"{len(skipped)} other file(s) skipped: {names}"


def summary_text(
    files: tuple[FileResult, ...], skipped: tuple[str, ...], paint: Paint = plain
) -> Iterator[str]:
    """The last lines of the text report."""
    if skipped:
        yield paint(skipped_text(skipped), "quiet")
    valid = sum(file.is_valid for file in files)
    errors, warnings = _count(files, "error"), _count(files, "warning")
    style = "good" if valid == len(files) else "error"
    summary = f"{valid} of {len(files)} file(s) valid, {errors} error(s), {warnings} warning(s)"
    yield paint(summary, style)


def findings_github(file: FileResult, spots: Spots) -> Iterator[str]:
    """Workflow commands that GitHub shows as annotations."""
    for finding in file.findings:
        spot = spots.get(finding)
        line = finding.line or (spot.line if spot else 1)
        message = finding.message.removeprefix(f"Line {line}: ")
        text = message + (f" ({finding.hint})" if finding.hint else "")
        place = f"file={_property(file.path)},line={line},title={_property(finding.code)}"
        yield f"::{finding.severity} {place}::{_data(text)}"


def findings_junit(files: tuple[FileResult, ...]) -> str:
    """A JUnit report: a suite per file, a case for the file and each record with a finding."""
    root = ET.Element("testsuites", name="steelyard validate")
    for file in files:
        cases: dict[int | None, list[Finding]] = {None: []}
        for finding in file.findings:
            cases.setdefault(finding.index, []).append(finding)
        failed = sum(any(f.is_error for f in found) for found in cases.values())
        suite = ET.SubElement(
            root,
            "testsuite",
            name=xml_text(file.path),
            tests=str(len(cases)),
            failures=str(failed),
        )
        for index, found in cases.items():
            name = "file" if index is None else found[0].record_id or f"record {index}"
            case = ET.SubElement(suite, "testcase", name=xml_text(name))
            case.set("classname", file.contract or "unknown")
            _junit_outcome(case, found)
    ET.indent(root)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True).decode("utf-8")


def _junit_outcome(case: ET.Element, found: list[Finding]) -> None:
    """One failure per case, as JUnit readers expect; warnings as its output."""
    errors = [finding for finding in found if finding.is_error]
    warnings = [finding for finding in found if not finding.is_error]
    if errors:
        failure = ET.SubElement(case, "failure", type=errors[0].code)
        failure.set("message", xml_text(_line_text(errors[0])))
        failure.text = "\n".join(xml_text(_line_text(finding)) for finding in errors)
    if warnings:
        output = ET.SubElement(case, "system-out")
        output.text = "\n".join(xml_text(_line_text(finding)) for finding in warnings)


def _line_text(finding: Finding) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{finding.where}{finding.message} [{finding.code}]{hint}"


def xml_text(text: str) -> str:
    """Replace control characters: XML does not allow them, even escaped."""
    return printable(text, "\ufffd")


def _finding_text(path: str, finding: Finding, spot: Spot | None, paint: Paint) -> Iterator[str]:
    line = finding.line or (spot.line if spot else None)
    place = f"{path}:{line}" if line else path
    severity = paint(finding.severity, finding.severity)
    message = finding.message
    if finding.path:  # a message about a whole line keeps its number, as contract 5 requires
        message = message.removeprefix(f"Line {line}: ")
    shown = printable(finding.where + message)
    yield f"  {place}: {severity}: {shown} {paint(f'[{finding.code}]', 'quiet')}"
    if spot and spot.text.strip():
        text, start, end = _window(spot)
        gutter = f"{spot.line:>8}"
        yield paint(f"  {gutter} | ", "quiet") + text
        if end > start:
            marks = " " * _width(text[:start]) + "^" * _width(text[start:end])
            yield paint(f"  {'':>8} | ", "quiet") + paint(marks, finding.severity)
    if finding.hint:
        yield paint(f"  {'':>8} = {printable(finding.hint)}", "quiet")


def _window(spot: Spot) -> tuple[str, int, int]:
    """The part of a long line around the finding, printable."""
    text, start, end = spot.text, spot.start, min(spot.end, len(spot.text))
    left = 0
    if len(text) > _WINDOW:
        left = max(0, min(start - 16, len(text) - _WINDOW))
        text = text[left : left + _WINDOW]
    before, after = ("…" if left else ""), ("…" if left + _WINDOW < len(spot.text) else "")
    shift = len(before) - left
    last = min(end + shift, len(before) + len(text))
    return before + printable(text) + after, start + shift, last


def _width(text: str) -> int:
    """The width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) != 0 for char in text)


def _count(files: tuple[FileResult, ...], severity: str) -> int:
    return sum(finding.severity == severity for file in files for finding in file.findings)


def _data(text: str) -> str:
    """A workflow command's text: line breaks escaped, other control characters replaced."""
    lines = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
