from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.formats.json_place import parse_path, place_of
from steelyard.model.json_value import Path, path_text

TEXT = """{
  "dataset_id": "d",
  "records": [
    {"record_id": "a", "input": {"prompt": "x"}},
    {"record_id": "b", "tags": ["one", "two"] , "in\\u0070ut": 3}
  ]
}"""


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", ()),
        ("records", ("records",)),
        ("records[1].input.prompt", ("records", 1, "input", "prompt")),
        ("[0]", (0,)),
        ("[0][12].x", (0, 12, "x")),
        ("a-b.$schema", ("a-b", "$schema")),
    ],
)
def test_a_written_path_is_read_into_its_parts(text: str, path: Path) -> None:
    assert parse_path(text) == path


@given(
    st.lists(st.one_of(st.integers(0, 10**6), st.text("abc_-$ é", min_size=1)), max_size=6).map(
        tuple
    )
)
def test_reading_a_path_undoes_writing_it(path: Path) -> None:
    assert parse_path(path_text(path)) == path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("dataset_id",), '"dataset_id"'),
        (("records",), '"records"'),
        (("records", 0), '{"record_id": "a", "input": {"prompt": "x"}}'),
        (("records", 0, "input", "prompt"), '"prompt"'),
        (("records", 1, "tags"), '"tags"'),
        (("records", 1, "tags", 0), '"one"'),
        (("records", 1, "tags", 1), '"two"'),
        (("records", 1, "input"), '"in\\u0070ut"'),
    ],
)
def test_the_place_of_a_field_is_its_key_and_of_an_item_its_value(path: Path, shown: str) -> None:
    start, end = place_of(TEXT, path)

    assert TEXT[start:end] == shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ((), "{"),
        (("missing",), "{"),
        ((0,), "{"),
        (("dataset_id", "deeper"), '"dataset_id"'),
        (("dataset_id", 0), '"dataset_id"'),
        (("records", 7), '"records"'),
        (("records", "name"), '"records"'),
        (("records", 0, "input", "missing"), '"input"'),
        (("records", 1, "zzz"), '{"record_id": "b", "tags": ["one", "two"] , "in\\u0070ut": 3}'),
    ],
)
def test_a_part_that_is_missing_is_shown_at_the_nearest_that_exists(
    path: Path, shown: str
) -> None:
    start, end = place_of(TEXT, path)

    assert TEXT[start:end] == shown


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("", (0, 1)),
        ("  ", (2, 3)),
        ("{", (0, 1)),
        ('{"b": nope, "a": 1}', (0, 1)),
        ('{"b": "unclosed', (0, 1)),
        ("[" * 100_000, (0, 1)),
    ],
)
def test_broken_text_is_shown_at_its_start(text: str, span: tuple[int, int]) -> None:
    assert place_of(text, ("a",)) == span


def test_nesting_that_no_parser_follows_is_shown_at_its_start() -> None:
    text = '{"b": ' + "[" * 100_000 + "]" * 100_000 + ', "a": 1}'

    assert place_of(text, ("a",)) == (0, 1)


@given(
    st.dictionaries(st.text(), st.lists(st.integers(), min_size=1), min_size=1),
    st.sampled_from([None, 0, 2]),
    st.data(),
)
def test_the_place_of_an_item_holds_its_value(
    value: dict[str, list[int]], indent: int | None, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=indent)
    name = data.draw(st.sampled_from(sorted(value)))
    index = data.draw(st.integers(0, len(value[name]) - 1))

    start, end = place_of(text, (name, index))

    assert json.loads(text[start:end]) == value[name][index]
