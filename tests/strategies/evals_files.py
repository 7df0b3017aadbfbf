"""Evals files to build, read and vary in a test."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from steelyard.contracts.evals_json.reader import EvalsJsonReading
from steelyard.contracts.reading import Row
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.dataset_documents import OBJECTS, texts, written


def entry(**changes: JsonValue) -> JsonObject:
    """A good eval with some fields changed or added."""
    return {"id": 1, "prompt": "Write a service.", **changes}


def evals_file(*entries: JsonValue, **changes: JsonValue) -> JsonObject:
    """A file with these evals, or with one good one."""
    return {"skill_name": "services", **changes, "evals": list(entries) or [entry()]}


def opened(content: bytes | JsonValue, stem: str = "data") -> EvalsJsonReading:
    """A file that was opened, from bytes or from a value."""
    return EvalsJsonReading(content if isinstance(content, bytes) else written(content), stem)


def read_rows(content: bytes | JsonValue) -> list[Row]:
    """All rows of a file whose header is right."""
    reading = opened(content)
    assert reading.findings == ()
    return list(reading.rows())


def read_dataset(content: bytes | JsonValue) -> Dataset:
    """The dataset of a file with all of its accepted evals."""
    reading = opened(content)
    return reading.dataset(tuple(reading.case(row) for row in reading.rows() if row.is_accepted))


def read_case(value: JsonValue) -> Case:
    """The case of one good eval."""
    (case,) = read_dataset(evals_file(value)).cases
    return case


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Code and path of each finding."""
    return [(finding.code, finding.path) for finding in findings]


def entry_errors(value: JsonValue) -> list[tuple[str, str]]:
    """Code and path of what is wrong with one eval; the good one after it stays good."""
    first, second = read_rows(evals_file(value, entry(id="good")))
    assert second.findings == ()
    return told(first.findings)


def indented(value: JsonValue) -> bytes:
    """A value as people write it."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8")


def _joined(known: JsonObject, more: JsonObject) -> JsonObject:
    return {**known, **more}


_COUNTS = st.integers(0, 9)
_LISTS = st.lists(texts(1, 8), max_size=3)
_MARKDOWN: dict[str, st.SearchStrategy[Any]] = {
    "min_headings": _COUNTS,
    "max_heading_level": st.integers(1, 6),
    "no_h1": st.booleans(),
    "required_sections": _LISTS,
    "forbidden_patterns": _LISTS,
    "min_code_blocks": _COUNTS,
    "min_paragraphs": _COUNTS,
}
_NONBLANK = texts(0, 12).map(lambda text: f"q{text}")
_REQUIRED: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(-(10**20), 10**20) | _NONBLANK | st.integers(0, 9).map(str),
    "prompt": _NONBLANK,
}
_OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "expected_output": texts(),
    "expectations": st.lists(_NONBLANK, max_size=3),
    "assertions": st.lists(_NONBLANK | _NONBLANK.map(lambda text: {"text": text}), max_size=2),
    "must_contain_any": _LISTS,
    "must_not_contain": _LISTS,
    "check_php_lint": st.booleans(),
    "check_markdown_structure": st.builds(
        _joined, st.fixed_dictionaries({}, optional=_MARKDOWN), OBJECTS
    ),
}
ENTRIES = st.builds(_joined, st.fixed_dictionaries(_REQUIRED, optional=_OPTIONAL), OBJECTS)
"""Evals that the contract allows."""


def _file(top: JsonObject, more: JsonObject, listed: list[JsonObject]) -> JsonObject:
    by_id = {str(value["id"]): value for value in listed}
    return {**top, **more, "evals": [*by_id.values()]}


_HEADERS: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {}, optional={"skill_name": _NONBLANK, "skill_file": texts()}
)
FILES = st.builds(_file, _HEADERS, OBJECTS, st.lists(ENTRIES, max_size=3))
"""Evals files that the contract allows."""
