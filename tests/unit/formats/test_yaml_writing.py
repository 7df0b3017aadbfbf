"""What YAML can hold: every JSON value whose texts have no lone surrogates.

Control characters are no obstacle: raw they are not allowed in YAML, but the writer puts them as
escapes into double quotes. So the round trip is tried with every character but surrogates, which
YAML cannot even escape; no reader lets one through.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.json_value import JsonValue
from strategies.effort import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
# Texts that touch the rules of YAML: marks, spaces, breaks, and words that mean a value.
MARKS = st.text(st.sampled_from("a- :#'\"|>&*!%@`{}[],?~=<.\n\r\t\x85\u2028\ufeff0x1e\\\0é"))
VALUE_WORDS = ("~", "null", "True", "0o17", "0x1F", "010", "1e3", ".nan", ".inf", "<<")
TEXT_WORDS = ("no", "on", "1_000", "2025-01-01", "12:30:00", "=", "word " * 60)
MARK_WORDS = ("---", "...", "- a", "a: b", "%TAG", "# c")
WORDS = st.sampled_from((*VALUE_WORDS, *TEXT_WORDS, *MARK_WORDS))
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | MARKS
    | WORDS
)
KEYS = TEXTS | MARKS | WORDS
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(500))
@given(VALUES)
@example({"<<": {"a": 1}})
@example(["\x85", "a\u2028\nb", "\ufeff", "\n  indented", "ends \n", "a\r\nb", "\t\nx"])
@example({"k" * 200: [[], {}, ""]})
@example("x  " * 60)
def test_what_is_written_reads_back_the_same(value: JsonValue) -> None:
    read = parse_yaml(write_yaml(value)).value

    assert read == value
    assert repr(read) == repr(value)


@settings(max_examples=examples(300))
@given(st.text(st.characters(max_codepoint=0x9F), max_size=8))
def test_control_characters_read_back_the_same(text: str) -> None:
    assert parse_yaml(write_yaml({text: [text]})).value == {text: [text]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, 0.5]}, "b: 1\na:\n- true\n- null\n- 0.5\n"),
        ({"say": "grüße 😀"}, "say: grüße 😀\n"),
        ({"text": "two\nlines\n"}, "text: |\n  two\n  lines\n"),
        ({"n": "12"}, 'n: "12"\n'),
        ({"n": "0o17"}, 'n: "0o17"\n'),
        ({"<<": "x"}, '"<<": x\n'),
        ({"none": ""}, 'none: ""\n'),
        ({"break": "a\u2028b"}, 'break: "a\\Lb"\n'),
        ([], "[]\n"),
    ],
)
def test_the_text_is_made_for_people(value: JsonValue, text: str) -> None:
    assert write_yaml(value).decode() == text


def test_what_occurs_twice_is_written_out_twice() -> None:
    shared: JsonValue = {"a": [1]}

    assert write_yaml([shared, shared]) == b"- a:\n  - 1\n- a:\n  - 1\n"


def test_a_long_text_is_folded() -> None:
    lines = write_yaml({"text": "word " * 60 + "end"}).decode().splitlines()

    assert len(lines) > 1
    assert all(len(line) <= 105 for line in lines)
