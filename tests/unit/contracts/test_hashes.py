"""The hash by which a record is known in every run."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.hashes import file_hashes
from steelyard.formats.json_hash import record_sha256
from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import FileBlock, Message, TextBlock

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shown(text: str, name: str = "notes.md") -> Message:
    file = FileBlock(value=name, path=f"/project/{name}", text=text)
    return Message(role="user", content=(TextBlock(text="Read this."), file))


def judged(name: str, prompt: str, *members: Evaluator) -> Evaluator:
    path = f"/project/{name}.md" if prompt else None
    return Evaluator(
        name=name, type="llm_judge", prompt=prompt or None, prompt_path=path, members=members
    )


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ({"b": 1, "a": [True, None, 2.5]}, '{"a":[true,null,2.5],"b":1}'),
        ({"text": 'é "quoted" 👍\n'}, '{"text":"é \\"quoted\\" 👍\\n"}'),
        ({}, "{}"),
        ("text", '"text"'),
        ([1e15, 1e16, -2.5e300], "[1000000000000000.0,1e+16,-2.5e+300]"),
        ([0.0001, 0.00001, 2e-7, -0.0], "[0.0001,1e-05,2e-07,-0.0]"),
        ([float("nan"), float("-inf")], "[NaN,-Infinity]"),
        ([2**70, True, 1, 1.0], f"[{2**70},true,1,1.0]"),
        (["1e5", "0.00001", "null"], '["1e5","0.00001","null"]'),
    ],
)
def test_the_hash_is_over_the_canonical_form(value: JsonValue, canonical: str) -> None:
    assert record_sha256(value) == sha256(canonical)


@given(VALUES)
def test_the_hash_is_that_of_pythons_sorted_compact_json(value: JsonValue) -> None:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert record_sha256(value) == sha256(text)


@pytest.mark.parametrize("text", ["iVBO0e0R", 'say "no"', "C:\\\\", '\\"', "null\n"])
@pytest.mark.parametrize("number", [0.5, 1e16, 2e-7, float("nan")])
def test_a_long_text_hides_no_number_beside_it(text: str, number: float) -> None:
    value: JsonValue = [text * 500, number, {text * 500: number}, "\\"]
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    assert record_sha256(value) == sha256(written)


@given(st.lists(st.floats(), min_size=1))
def test_numbers_are_written_as_python_writes_them(value: list[float]) -> None:
    assert record_sha256([*value]) == sha256(json.dumps(value, separators=(",", ":")))


ODD_TEXTS = ["null", "1e5", "0.00001", "2e-7", '"', "\\", ":", "a"]
ODD_NUMBERS = [1e300, 1e-7, 0.00001, 1.5, None, 7]


@given(
    st.dictionaries(
        st.lists(st.sampled_from(ODD_TEXTS), max_size=3).map("".join),
        st.lists(st.sampled_from(ODD_TEXTS), max_size=3).map("".join)
        | st.sampled_from(ODD_NUMBERS),
        max_size=3,
    )
)
def test_texts_that_look_like_odd_numbers_are_none(value: JsonObject) -> None:
    """As Base64 does; and what stands in a text hides no number beside it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert record_sha256(value) == sha256(text)


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=5))
def test_the_order_of_fields_does_not_change_the_hash(value: dict[str, int]) -> None:
    turned: JsonValue = dict(reversed(value.items()))

    assert record_sha256(turned) == record_sha256({**value})


def test_a_lone_surrogate_has_a_hash_too() -> None:
    assert record_sha256("\ud800") != record_sha256("\ud801")


def test_files_are_hashed_by_their_text_under_the_written_reference() -> None:
    case = Case(
        id="a",
        input_messages=(shown("one"), Message(role="user", content="no file")),
        expected_messages=(shown("two", "answer.md"),),
    )

    assert file_hashes(case) == {"notes.md": sha256("one"), "answer.md": sha256("two")}


def test_prompt_files_are_hashed_at_any_depth_and_under_any_name() -> None:
    inner = judged("same", "third")
    case = Case(
        id="a",
        evaluators=(judged("same", "first"), judged("same", "second", judged("x", ""), inner)),
    )

    assert file_hashes(case) == {
        "evaluators[0].prompt": sha256("first"),
        "evaluators[1].prompt": sha256("second"),
        "evaluators[1].evaluators[1].prompt": sha256("third"),
    }


def test_a_prompt_that_is_no_file_is_part_of_the_row_and_not_hashed_again() -> None:
    evaluator = Evaluator(name="judge", type="llm_judge", prompt="Is it right?")

    assert file_hashes(Case(id="a", evaluators=(evaluator,))) == {}
