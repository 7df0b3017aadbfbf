"""Rows that need no look at the schema: the short way says what the long way says."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.content import content_of
from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.plain_rows import PlainRows
from steelyard.contracts.eval_cases.reader import EvalCasesJsonl
from steelyard.contracts.reading import Row
from strategies.effort import examples

CONTAINS = {"name": "weeks", "type": "contains", "value": "three weeks"}
JUDGED = {"type": "llm-grader", "prompt": "Is {{ candidate_answer }} good?"}
PLAIN: dict[str, Any] = {
    "id": "a",
    "expected_outcome": "Says how long.",
    "input_messages": [{"role": "user", "content": "How long?"}],
}
BLANKS = ["", " ", "\u00a0", "\ufeff", " \ufeff ", "\x1f", "\x85"]
ODD: list[Any] = [None, True, 0, 1.5, *BLANKS, "x", "ünï", [], {}, ["x"], [1], {"x": 1}]
MESSAGES: list[Any] = [
    {"role": "user", "content": "Hello"},
    {"role": "tool", "content": ""},
    {"role": "nobody", "content": "Hello"},
    {"role": "assistant", "content": None},
    {"role": "assistant", "content": [{"type": "text", "value": "Hello"}]},
    {"role": "user", "content": "Hello", "name": "Ann"},
    {"role": "user"},
    "Hello",
]
EVALUATORS: list[Any] = [
    CONTAINS,
    {"name": "weeks", "type": "contains", "value": 3},
    {"name": "weeks", "type": "contians", "value": "three weeks"},
    {"name": "weeks", "type": "contains", "valeu": "three weeks"},
    {"name": "judge", "type": "llm_judge", "prompt": "Is {{answer}} right?"},
    {"name": "short", "type": "regex", "value": "^.{0,9}$", "negate": True},
    {"name": "short", "type": "regex", "value": "("},
    {"type": "field_accuracy", "fields": [{"path": "a[", "match": "exact"}]},
    {"type": "contains-any", "value": ["three weeks", "21 days"], "required": 0.5},
    {"type": "contains_any", "value": [""]},
    {"type": "composite", "assert": [CONTAINS], "aggregator": {"type": "weighted_average"}},
    {
        "type": "composite",
        "assert": [CONTAINS],
        "aggregator": {"type": "weighted_average", "weights": {"weekz": 2}},
    },
    "Is polite.",
    " ",
    None,
]
SAID: list[Any] = [*ODD, "Hello", *([message] for message in MESSAGES), MESSAGES[:2]]
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from([*ODD, "a", "b", "c"]),
        **{
            name: st.sampled_from([*ODD, "Says how long."])
            for name in ("expected_outcome", "outcome", "criteria")
        },
        **{
            name: st.sampled_from(SAID)
            for name in ("input_messages", "input", "expected_messages", "expected_output")
        },
        **{
            name: st.one_of(
                st.sampled_from(ODD), st.lists(st.sampled_from(EVALUATORS), max_size=2)
            )
            for name in ("evaluators", "assert", "assertions")
        },
        "tags": st.sampled_from([*ODD, ["loans", "fees"]]),
        "metadata": st.sampled_from([*ODD, {"difficulty": {"level": 3}}]),
        "conversation_id": st.sampled_from(ODD),
        "name": st.sampled_from(ODD),
        "note": st.just("an unknown name"),
    },
)
BARE = [(), ("expected_outcome",), ("input_messages",), ("expected_outcome", "input_messages")]
"""What a row goes without, so that another spelling may take its place."""


def without(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def row_of(names: tuple[str, ...], fields: dict[str, Any]) -> dict[str, Any]:
    return {**without(PLAIN, names), **fields}


ROWS = st.builds(row_of, st.sampled_from(BARE), FIELDS)


def read(rows: list[Any]) -> list[Row]:
    data = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    found = EvalCasesJsonl(lambda: BytesIO(data), Defaults.without_file("cases")).rows()
    return [row._replace(content=row.content or said(row)) for row in found]


def said(row: Row) -> bytes:
    """What tells duplicates, which is made later where reading has not made it."""
    return content_of(row.value) if isinstance(row.value, dict) else b""


@given(st.lists(ROWS, min_size=1, max_size=4))
@settings(max_examples=examples(300))
def test_no_row_is_read_otherwise_than_by_the_schema(rows: list[Any]) -> None:
    assert read(rows) == by_schema(rows)


def by_schema(rows: list[Any]) -> list[Row]:
    """The rows of a file as they are read where none is plain."""

    def never(self: PlainRows, text: bytes, value: Any) -> bool:
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainRows, "has", never)
        return read(rows)


@pytest.mark.parametrize("goal", ["expected_outcome", "outcome", "criteria"])
@pytest.mark.parametrize(
    "asked",
    [
        {"input_messages": PLAIN["input_messages"]},
        {"input": PLAIN["input_messages"]},
        {"input": "How long?"},
    ],
)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"evaluators": [CONTAINS], "expected_output": "Three weeks."},
        {"assert": [EVALUATORS[5]], "name": {"any": "thing"}, "notes": None},
        {"assertions": [JUDGED, "Is polite."], "tags": ["loans"]},
        {"expected_messages": [{"role": "assistant", "content": "Three weeks."}]},
    ],
)
def test_rows_are_plain_in_every_spelling(
    goal: str, asked: dict[str, Any], more: dict[str, Any]
) -> None:
    row = {"id": "a", goal: "Says how long.", **asked, **more}

    assert has(row) == [True]
    assert read([row]) == by_schema([row])


def has(*rows: dict[str, Any]) -> list[bool]:
    """Which rows of a file are plain."""
    found: list[bool] = []
    looked = PlainRows.has

    def noting(self: PlainRows, text: bytes, value: Any) -> bool:
        found.append(looked(self, text, value))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainRows, "has", noting)
        read(list(rows))
    return found


def test_rows_of_texts_are_plain_with_and_without_what_they_share() -> None:
    graded: dict[str, Any] = {**PLAIN, "evaluators": [CONTAINS]}
    rows: list[dict[str, Any]] = [
        PLAIN,
        graded,
        {**graded, "id": "b", "tags": ["loans"]},
        {**PLAIN, "metadata": {}},
    ]

    assert has(*rows) == [True, True, True, True]


@pytest.mark.parametrize(
    "odd",
    [
        {"id": " "},
        {"id": "\ufeff"},
        {"expected_outcome": "\u00a0"},
        {"expected_outcome": " \ufeff "},
        {"metadata": []},
        {"input_messages": []},
        {"input": "Hello"},
        {"outcome": "Says it."},
        {"expected_output": "a", "expected_messages": []},
        {"expected_output": ["a"]},
        {"evaluators": [CONTAINS], "assert": []},
        {"evaluators": [{"name": "weeks", "type": "contains", "value": 3}]},
        {"evaluators": [{"name": "judge", "type": "llm_judge", "prompt": "p.md"}]},
        {"evaluators": [{"name": "weeks", "type": "regex", "value": "("}]},
    ],
)
def test_what_is_odd_or_loads_something_is_not_plain(odd: dict[str, Any]) -> None:
    assert has({**PLAIN, **odd}) == [False]
