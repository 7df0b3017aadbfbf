"""Runs as JUnit: a suite per run, a case per gate and record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as ET

from steelyard.model.statistics.gate import GateResult
from steelyard.reports.asked_text import expected_text, request_text
from steelyard.reports.findings import xml_text
from steelyard.reports.judges.correction import (
    corrected_text,
    judge_text,
)
from steelyard.reports.record_name import record_name
from steelyard.reports.run.headline import gate_lines
from steelyard.reports.run.run_text import RunView, bounds_of_run, selection_text, unread_text
from steelyard.results.predictions import Prediction

_SHOWN = 2000


def run_junit(runs: Iterable[tuple[RunView, Iterable[Prediction]]]) -> str:
    """A failed gate or record is a failure, one that could not be evaluated an error."""
    root = ET.Element("testsuites", name="steelyard run")
    for view, rows in runs:
        suite = ET.SubElement(root, "testsuite", name=xml_text(view.title))
        properties = ET.SubElement(suite, "properties")
        for name, value in _properties(view):
            ET.SubElement(properties, "property", name=name, value=xml_text(value))
        counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        for gate, text in gate_lines(view.gates):
            _gate(suite, gate, text, counts)
        if why := view.manifest.unread:
            _unread(suite, f"{unread_text(view.metrics)}: {why}", counts)
        for row in rows:
            _case(suite, row, counts, is_repeated=view.is_repeated)
        for name, number in counts.items():
            suite.set(name, str(number))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _properties(view: RunView) -> Iterator[tuple[str, str]]:
    """The headline of the run, and the basis of its numbers."""
    yield "headline", view.headline
    if row := view.metrics.corrected_pass_rate:
        yield "corrected" if row.is_corrected else "uncorrected", corrected_text(row)
    named = (
        ("judge", judge_text(row) if row else ""),
        ("bounds", bounds_of_run(view.metrics)),
        ("selected", selection_text(view)),
    )
    yield from ((name, text) for name, text in named if text)


def _gate(suite: ET.Element, gate: GateResult, text: str, counts: dict[str, int]) -> None:
    counts["tests"] += 1
    case = ET.SubElement(suite, "testcase", classname="gate", name=gate.name, time="0.000")
    if not gate.passed:
        counts["failures"] += 1
        ET.SubElement(case, "failure", type="gate", message=xml_text(text))


def _unread(suite: ET.Element, message: str, counts: dict[str, int]) -> None:
    """One case for all records that have no row."""
    for name in ("tests", "errors"):
        counts[name] += 1
    case = ET.SubElement(suite, "testcase", classname="run", name="unread", time="0.000")
    ET.SubElement(case, "error", type="unread", message=xml_text(message))


def _case(
    suite: ET.Element, row: Prediction, counts: dict[str, int], *, is_repeated: bool
) -> None:
    counts["tests"] += 1
    name = record_name(row.index, row.record_id or None, row.repeat, is_repeated=is_repeated)
    latency = (row.latency_ms or 0) / 1000
    case = ET.SubElement(
        suite,
        "testcase",
        classname=xml_text(row.target or "none"),
        name=xml_text(name),
        time=f"{latency:.3f}",
    )
    message = xml_text(row.reason or row.status)
    if row.status == "evaluated":
        if not row.passed:
            counts["failures"] += 1
            ET.SubElement(case, "failure", message=message).text = _body(row)
    elif row.status in {"skipped", "cancelled"}:
        counts["skipped"] += 1
        ET.SubElement(case, "skipped", message=message)
    else:
        counts["errors"] += 1
        ET.SubElement(case, "error", type=row.status, message=message).text = _body(row)


def _body(row: Prediction) -> str | None:
    """Question, expectations and answer, truncated."""
    named = (
        ("asked", request_text(row)),
        ("expected", expected_text(row)),
        ("answered", row.model_response),
    )
    parts = [f"{word}: {_cut(text)}" for word, text in named if text is not None]
    lines = "\n\n".join(parts).splitlines()
    return "\n".join(map(xml_text, lines)) if parts else None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
