"""Comparisons as JUnit: a suite per pair of runs, a case per verdict and changed record."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from steelyard.model.statistics.comparison import Comparison, Moved
from steelyard.model.statistics.gate import GateResult
from steelyard.reports.comparison.comparison_text import points, verdict_text
from steelyard.reports.findings import xml_text
from steelyard.reports.record_name import record_name


def comparison_junit(found: Iterable[tuple[Comparison, GateResult | None]]) -> str:
    """A failed gate and a record that only A passes are failures; no comparison is an error."""
    root = ET.Element("testsuites", name="steelyard compare")
    for one, gate in found:
        name = f"{one.b.title} against {one.a.title}"
        suite = ET.SubElement(root, "testsuite", name=xml_text(name))
        properties = ET.SubElement(suite, "properties")
        named = (
            ("a", one.a.run_id),
            ("b", one.b.run_id),
            ("verdict", one.verdict),
            ("difference", points(one.passes)),
        )
        for word, value in named:
            ET.SubElement(properties, "property", name=word, value=xml_text(value))
        _verdict(suite, one, gate)
        for moved in one.regressions:
            case = _record(suite, moved)
            ET.SubElement(case, "failure", message=xml_text(moved.reason or "fails in B alone"))
        for moved in one.improvements:
            _record(suite, moved)
        for word, kind in (("failures", "failure"), ("errors", "error"), ("tests", None)):
            cases = suite.findall(f"testcase/{kind}" if kind else "testcase")
            suite.set(word, str(len(cases)))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _verdict(suite: ET.Element, found: Comparison, gate: GateResult | None) -> None:
    name = gate.name if gate else "verdict"
    case = ET.SubElement(suite, "testcase", classname="comparison", name=name, time="0.000")
    if not found.passes.n or (gate and gate.is_undecided):
        reason = gate.reason if gate else verdict_text(found)
        ET.SubElement(case, "error", type="comparison", message=xml_text(reason))
    elif gate and not gate.passed:
        ET.SubElement(case, "failure", type="gate", message=xml_text(gate.reason))
    else:
        ET.SubElement(case, "system-out").text = xml_text(verdict_text(found))


def _record(suite: ET.Element, moved: Moved) -> ET.Element:
    name = xml_text(record_name(moved.index, moved.record_id))
    return ET.SubElement(suite, "testcase", classname="record", name=name, time="0.000")
