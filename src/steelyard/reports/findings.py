"""Validation results in the forms that people, editors and CI systems read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Protocol
from xml.etree import ElementTree as ET

from steelyard.model.finding import Finding

_SHOWN = 20
_WINDOW = 88


class Spot(Protocol):
    """A line of a file with the part that matters."""

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
"""Gives a text the look of a style: error, warning, good, quiet."""


def plain(text: str, _style: str) -> str:
    """No colours."""
    return text


def findings_json(files: tuple[FileResult, ...], skipped: tuple[str, ...] = ()) -> str:
    """The machine-readable report."""
    return json.dumps(
        {
            "files": [
                {
                    "path": file.path,
                    "contract": file.contract,
                    "valid": file.is_valid,
                    "total": file.total,
                    "accepted": file.accepted,
                    "rejected": file.rejected,
                    "findings": [asdict(finding) for finding in file.findings],
                }
                for file in files
            ],
            "summary": {
                "files": len(files),
                "valid": sum(file.is_valid for file in files),
                "errors": _count(files, "error"),
                "warnings": _count(files, "warning"),
            },
            "skipped": list(skipped),
        },
        ensure_ascii=False,
        indent=2,
    )


def findings_text(
    file: FileResult, spots: Spots, paint: Paint = plain, shown: int = _SHOWN
) -> Iterator[str]:
    """One file for a terminal: a headline, then each finding with its spot."""
    mark = paint("ok", "good") if file.is_valid else paint("invalid", "error")
    counts = f"  {file.total:,} record(s): {file.accepted:,} accepted, {file.rejected:,} rejected"
    yield f"{file.path}  {file.contract or 'unknown'}{counts if file.total else ''}  {mark}"
    for finding in file.findings[:shown]:
        yield from _finding_text(file.path, finding, spots.get(finding), paint)
    more = len(file.findings) - shown
    if more > 0:
        yield paint(f"  … and {more:,} more findings; --format json lists all", "quiet")


def shown_findings(file: FileResult) -> tuple[Finding, ...]:
    """The findings that the text report prints, and so needs spots for."""
    return file.findings[:_SHOWN]


def summary_text(
    files: tuple[FileResult, ...], skipped: tuple[str, ...], paint: Paint = plain
) -> Iterator[str]:
    """The last lines of the text report."""
    if skipped:
        names = ", ".join(skipped[:3]) + (", …" if len(skipped) > 3 else "")
        yield paint(f"{len(skipped)} other file(s) passed over: {names}", "quiet")
    valid = sum(file.is_valid for file in files)
    errors, warnings = _count(files, "error"), _count(files, "warning")
    style = "good" if valid == len(files) else "error"
    told = f"{valid} of {len(files)} file(s) valid, {errors} error(s), {warnings} warning(s)"
    yield paint(told, style)


def findings_github(file: FileResult, spots: Spots) -> Iterator[str]:
    """Workflow commands that GitHub shows beside the changed lines."""
    for finding in file.findings:
        spot = spots.get(finding)
        line = finding.line or (spot.line if spot else 1)
        text = finding.message + (f" ({finding.hint})" if finding.hint else "")
        place = f"file={_property(file.path)},line={line},title={_property(finding.code)}"
        yield f"::{finding.severity} {place}::{_data(text)}"


def findings_junit(files: tuple[FileResult, ...]) -> str:
    """A JUnit report: a suite a file, a case for the file and for each record with a finding."""
    root = ET.Element("testsuites", name="steelyard validate")
    for file in files:
        cases: dict[str, list[Finding]] = {"file": []}
        for finding in file.findings:
            cases.setdefault(_case_name(finding), []).append(finding)
        failed = sum(any(f.is_error for f in found) for found in cases.values())
        suite = ET.SubElement(
            root, "testsuite", name=file.path, tests=str(len(cases)), failures=str(failed)
        )
        for name, found in cases.items():
            _junit_case(suite, file, name, found)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _junit_case(suite: ET.Element, file: FileResult, name: str, found: list[Finding]) -> None:
    case = ET.SubElement(suite, "testcase", classname=file.contract or "unknown", name=name)
    for finding in found:
        text = _xml_text(_line_text(finding))
        if finding.is_error:
            ET.SubElement(case, "failure", type=finding.code, message=text).text = text
        else:
            ET.SubElement(case, "system-out").text = text


def _case_name(finding: Finding) -> str:
    if finding.index is None:
        return "file"
    return _xml_text(finding.record_id or f"record {finding.index}")


def _line_text(finding: Finding) -> str:
    where = f"{finding.path}: " if finding.path else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{where}{finding.message} [{finding.code}]{hint}"


def _xml_text(text: str) -> str:
    """XML cannot hold control characters, however they are escaped."""
    return "".join(char if char in "\t\n\r" or char.isprintable() else "\ufffd" for char in text)


def _finding_text(path: str, finding: Finding, spot: Spot | None, paint: Paint) -> Iterator[str]:
    line = finding.line or (spot.line if spot else None)
    place = f"{path}:{line}" if line else path
    severity = paint(finding.severity, finding.severity)
    message = finding.message.removeprefix(f"Line {line}: ")
    where = f" at {finding.path}" if finding.path and not message.startswith(finding.path) else ""
    code = paint(f"[{finding.code}]", "quiet")
    yield f"  {place}: {severity}: {_shown(message + where)} {code}"
    if spot and spot.text.strip():
        text, start, end = _window(spot)
        gutter = f"{spot.line:>8}"
        yield paint(f"  {gutter} | ", "quiet") + text
        if end > start:
            marks = " " * start + "^" * (end - start)
            yield paint(f"  {'':>8} | ", "quiet") + paint(marks, finding.severity)
    if finding.hint:
        yield paint(f"  {'':>8} = {finding.hint}", "quiet")


def _window(spot: Spot) -> tuple[str, int, int]:
    """The part of a long line around what matters, printable."""
    text, start, end = spot.text, spot.start, min(spot.end, len(spot.text))
    left = 0
    if len(text) > _WINDOW:
        left = max(0, min(start - 16, len(text) - _WINDOW))
        text = text[left : left + _WINDOW]
    before, after = ("…" if left else ""), ("…" if left + _WINDOW < len(spot.text) else "")
    shift = len(before) - left
    last = min(end + shift, len(before) + len(text))
    return before + _shown(text) + after, start + shift, last


def _shown(text: str) -> str:
    """Text that cannot move the cursor or hide what is there."""
    return "".join(char if char.isprintable() else "·" for char in text)


def _count(files: tuple[FileResult, ...], severity: str) -> int:
    return sum(finding.severity == severity for file in files for finding in file.findings)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
