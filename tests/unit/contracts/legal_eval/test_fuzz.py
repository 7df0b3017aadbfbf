"""Whatever stands in a file, reading it ends and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.rules import RowRules, unknown_fields
from steelyard.contracts.legal_eval.writer import case_row
from steelyard.contracts.schemas import load_schema
from steelyard.formats.schema import Schema
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonObject, JsonValue, path_text
from strategies.effort import examples
from strategies.legal_eval import KnownFiles, cases, json_values, opened, rows_of

VALID = Path(__file__).parents[3] / "corpus" / "legal_eval" / "valid"
SEEDS = sorted(path.read_bytes() for path in VALID.glob("*.jsonl"))
# What breaks files: marks of the format, odd characters, other types, names of the contract.
SHARDS = [
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r\n", b"\t", b"\\", b"\x00", b"\xff"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\\ud800", b"null", b"true", b"5", b"-1e999", b"NaN"),
    *(b'""', b"[]", b"{}", b"mcq", b"rubric_qa", b"choices", b"messages", b"attachments"),
]
SCHEMA = Schema(load_schema("legal_eval"))
RULES = RowRules(built_in_policies(), KnownFiles())


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A valid file with a few cuts, repeats and strange bytes in it."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        middle = draw(st.sampled_from([b"", data[start:end] * 2, *SHARDS]))
        data = data[:start] + middle + data[end:]
    return data


def check(data: bytes) -> None:
    reading = opened(data)
    for one in reading.rows():
        assert {finding.code for finding in one.findings} <= set(CODES)
        if one.is_accepted:
            case = reading.case(one)
            assert reading.hashed(one, case)


@given(damaged())
@settings(max_examples=examples(400))
def test_a_damaged_file_never_raises(data: bytes) -> None:
    """LE-02"""
    check(data)


@given(st.binary(max_size=200))
@settings(max_examples=examples(200))
def test_random_bytes_never_raise(data: bytes) -> None:
    """LE-02, LE-03"""
    check(data)


@given(st.lists(json_values, max_size=3))
@settings(max_examples=examples(200))
def test_lines_of_any_json_never_raise(values: list[JsonValue]) -> None:
    """LE-05"""
    check("".join(json.dumps(value) + "\n" for value in values).encode())


def members(value: JsonValue) -> Iterator[tuple[JsonObject, str]]:
    """Every name in a value, with the object that holds it."""
    if isinstance(value, list):
        for item in value:
            yield from members(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield value, name
            yield from members(item)


@st.composite
def almost_rows(draw: st.DrawFn) -> JsonObject:
    """A good row in which a name may be misspelt, a member removed or a value replaced."""
    row: JsonObject = json.loads(json.dumps(case_row(draw(cases))))
    for _ in range(draw(st.integers(0, 2))):
        holder, name = draw(st.sampled_from(list(members(row))))
        value = holder.pop(name)
        change = draw(st.sampled_from(["misspell", "remove", "replace", "add"]))
        if change == "misspell":
            holder[f"{name}s"] = value
        if change == "replace":
            holder[name] = draw(json_values)
        if change == "add":
            holder.update({name: value, "reference_answers": ["x"], "note": 1})
    return row


@given(almost_rows())
@settings(max_examples=examples(400))
def test_both_ways_of_looking_at_a_row_agree(value: JsonObject) -> None:
    (row,) = rows_of(value)
    slow = [*SCHEMA.problems(value), *unknown_fields(value)]
    if not any(problem.severity == "error" for problem in slow):
        slow.extend(RULES.problems(value))

    assert sorted((found.code, found.path) for found in row.findings) == sorted(
        (problem.code, path_text(problem.path)) for problem in slow
    )


@given(almost_rows())
@settings(max_examples=examples(200))
def test_an_accepted_row_becomes_a_case(value: JsonObject) -> None:
    check(json.dumps(value).encode())
