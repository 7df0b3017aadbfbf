"""Whatever the bytes are, reading ends with findings; both ways of looking agree."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.evals_json.reader import EvalsJsonReading
from steelyard.contracts.schemas import load_schema
from steelyard.formats.schema import Schema
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.dataset_documents import VALUES, written
from strategies.effort import examples
from strategies.evals_files import ENTRIES, FILES, evals_file, indented, opened

FIELDS = (
    *("id", "prompt", "expected_output", "expectations", "must_contain_any", "must_not_contain"),
    *("check_php_lint", "check_markdown_structure", "Prompt", "must_contain", "note"),
)
TOKENS = (
    *(b"", b"null", b"0", b"1e999", b"NaN", b"{}", b"[]", b"{", b"]", b'"', b",", b"\\ud800"),
    *(b"\x00", b"\n", b"\xff", b"\xef\xbb\xbf", b"[" * 300, b'"evals"', b'"id"', b"9" * 4400),
)
SCHEMA = Schema(load_schema("evals_json"), "#/$defs/eval")


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """A good file with a few parts replaced."""
    data = indented(draw(FILES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.integers(0, 12))
        data = data[:start] + draw(st.sampled_from(TOKENS)) + data[end:]
    return data


def read(reading: EvalsJsonReading) -> set[str]:
    """The codes of all findings, each of which can be written."""
    findings = list(reading.findings)
    for row in reading.rows():
        findings.extend(row.findings)
        if row.is_accepted:
            reading.case(row)
    reading.dataset(())

    for finding in findings:
        finding.message.encode("utf-8")
        finding.path.encode("utf-8")
    return {finding.code for finding in findings}


@settings(max_examples=examples(300))
@given(mutants() | st.binary(max_size=80))
def test_a_file_with_accidents_is_read_to_its_end(data: bytes) -> None:
    """EJ-21"""
    assert read(opened(data)) <= set(CODES)


@settings(max_examples=examples(300))
@given(VALUES, st.lists(VALUES, max_size=3))
def test_any_value_is_read_to_its_end(top: JsonValue, entries: list[JsonValue]) -> None:
    """EJ-21"""
    assert read(opened(written(top))) <= set(CODES)
    assert read(opened(evals_file(*entries))) <= set(CODES)


CHANGES = st.tuples(st.sampled_from(FIELDS), VALUES)


def changed(value: JsonObject, changes: list[tuple[str, Any]]) -> JsonObject:
    return {**value, **dict(changes)}


@settings(max_examples=examples(300))
@given(ENTRIES | st.builds(changed, ENTRIES, st.lists(CHANGES, min_size=1, max_size=3)))
def test_an_eval_accepted_at_a_glance_has_no_problem_on_a_close_look(value: JsonObject) -> None:
    if SCHEMA.is_clean(value):
        assert SCHEMA.problems(value) == []


@settings(max_examples=examples(300))
@given(ENTRIES)
def test_a_good_eval_has_no_problem_on_a_close_look(value: JsonObject) -> None:
    assert SCHEMA.problems(value) == []
