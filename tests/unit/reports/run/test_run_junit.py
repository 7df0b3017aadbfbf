"""Runs as JUnit."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from msgspec import structs

from steelyard.engine.metrics.unread_records import PlannedRecords, with_unread
from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.gate import ALLOW_FAILURES, GateResult
from steelyard.reports.run.run_junit import run_junit
from steelyard.reports.run.run_markdown import run_markdown
from steelyard.results.predictions import Prediction
from strategies.run_facts import facts
from strategies.run_views import prediction, run_view


def suite(*rows: Prediction) -> ET.Element:
    (found,) = ET.fromstring(run_junit([(run_view(), rows)]))
    return found


def cases(*rows: Prediction) -> list[ET.Element]:
    return suite(*rows).findall("testcase")


def test_a_gate_is_a_case_that_fails_as_the_gate_does() -> None:
    failed = GateResult(name="fail-under", passed=False, looked_at="", reason="it is < 0.9")
    passed = GateResult(name="fail-under-low", passed=True, looked_at="the lower bound, 60.0 %")
    unsaid = GateResult(name=ALLOW_FAILURES, passed=True, looked_at="0 of 1 record(s)")
    view = replace(run_view(), gates=(failed, passed, unsaid))
    (found,) = ET.fromstring(run_junit([(view, [prediction(0)])]))
    first, second, _ = found.findall("testcase")

    assert (found.attrib["tests"], found.attrib["failures"]) == ("3", "1")
    assert (first.attrib["classname"], first.attrib["name"]) == ("gate", "fail-under")
    assert first[0].attrib == {"type": "gate", "message": "failed: it is < 0.9"}
    assert (second.attrib["name"], list(second)) == ("fail-under-low", [])
    assert found[0][0].attrib["value"].endswith("; gate failed: fail-under")


def test_a_suite_counts_what_became_of_its_records() -> None:
    found = suite(
        prediction(0),
        prediction(1, passed=False),
        prediction(2, passed=False),
        prediction(3, status="timeout", passed=None),
        prediction(4, status="invalid_record", passed=None),
        prediction(5, status="evaluation_error", passed=None),
        prediction(6, status="skipped", passed=None),
        prediction(7, status="cancelled", passed=None),
    )

    assert found.attrib == {
        "name": "qa × live",
        "tests": "8",
        "failures": "2",
        "errors": "3",
        "skipped": "2",
    }
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(found.attrib[name]) == len(list(found.iter(tag)))


def test_a_run_without_records_is_an_empty_suite() -> None:
    assert suite().attrib["tests"] == "0"


def test_each_run_is_a_suite() -> None:
    text = run_junit([(run_view(dataset_id=name), []) for name in ("a", "b")])

    assert [found.attrib["name"] for found in ET.fromstring(text)] == ["a × live", "b × live"]
    assert text.startswith("<?xml version='1.0' encoding='utf-8'?>\n")


def test_a_record_that_passed_is_a_case_with_its_time() -> None:
    (case,) = cases(prediction(0))

    assert case.attrib == {"classname": "live", "name": "q0", "time": "1.234"}
    assert list(case) == []


def test_the_first_repeat_is_named_like_the_others() -> None:
    view = run_view()
    setup = view.manifest.setup
    options = structs.replace(setup.options, repeat=2)
    setup = structs.replace(setup, options=options)
    view = replace(view, manifest=structs.replace(view.manifest, setup=setup))

    (found,) = ET.fromstring(run_junit([(view, [prediction(7), prediction(7, repeat=1)])]))

    names = [case.attrib["name"] for case in found.findall("testcase")]
    assert names == ["q7 (repeat 0)", "q7 (repeat 1)"]


@pytest.mark.parametrize(
    ("others", "name"),
    [
        ({}, "q7"),
        ({"repeat": 2}, "q7 (repeat 2)"),
        ({"record_id": None}, "record 7"),
        ({"record_id": "a<b>\"'&"}, "a<b>\"'&"),
        ({"record_id": "tab\tnul\x00"}, "tab\ufffdnul\ufffd"),
    ],
)
def test_a_case_is_named_after_its_record(others: JsonObject, name: str) -> None:
    (case,) = cases(prediction(7, **others))

    assert case.attrib["name"] == name


@pytest.mark.parametrize(
    ("others", "tag", "attributes"),
    [
        ({"passed": False, "reason": "no '4'"}, "failure", {"message": "no '4'"}),
        (
            {"status": "timeout", "reason": "60 s"},
            "error",
            {"type": "timeout", "message": "60 s"},
        ),
        ({"status": "cancelled", "reason": None}, "skipped", {"message": "cancelled"}),
    ],
)
def test_the_reason_is_the_message(
    others: JsonObject, tag: str, attributes: dict[str, str]
) -> None:
    ((told,),) = cases(prediction(0, **others))

    assert (told.tag, told.attrib) == (tag, attributes)


def test_a_record_without_target_and_time_is_a_case_too() -> None:
    (case,) = cases(prediction(0, status="invalid_record", target=None, latency_ms=None))

    assert (case.attrib["classname"], case.attrib["time"]) == ("none", "0.000")


def test_no_name_can_spoil_the_file() -> None:
    view = run_view(dataset_id="qa\x00<", targets={"\x1b": {}})
    text = run_junit([(view, [prediction(0, target="\x1b", reason="\x08", passed=False)])])

    assert ET.fromstring(text)[0].attrib["name"] == "qa\ufffd< × \ufffd"


def test_records_that_could_not_be_read_are_an_error() -> None:
    view = run_view([facts(0, passed=True)], unread="no such file: d.jsonl")
    view = replace(view, metrics=with_unread(view.metrics, PlannedRecords(4, 4)))
    (found,) = ET.fromstring(run_junit([(view, [prediction(0)])]))
    first, _ = found.findall("testcase")

    assert (found.attrib["tests"], found.attrib["errors"]) == ("2", "1")
    assert first.attrib["name"] == "unread"
    assert first[0].attrib["message"] == "3 that could not be read: no such file: d.jsonl"
    assert "| unread | no such file: d.jsonl |" in run_markdown(view)
    assert "| records | 4 = 1 evaluated + 0 failed + 3 skipped (3 cancelled, 3" in run_markdown(
        view
    )
