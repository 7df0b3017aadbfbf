from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import ParseError
from steelyard.formats.json_text import (
    MAX_DEPTH,
    MAX_NUMBER,
    SecondLook,
    compact,
    depth,
    parse_json,
    parse_json_tolerantly,
    raw_items,
    raw_members,
)
from steelyard.formats.problem import Problem
from steelyard.formats.schema import spoken
from steelyard.model.json_value import JsonValue, Path
from strategies.effort import examples

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | st.integers() | FLOATS | st.text()
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def refusal(data: bytes) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_json(data)
    return caught.value


def tolerant_refusal(data: bytes) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_json_tolerantly(data)
    return caught.value


# --- the fast, strict parse


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"null", None),
        (b" true ", True),
        (b"-0", 0),
        (b"12", 12),
        (b"1e3", 1000.0),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'"\\u00e9\\ud83d\\ude00"', "é😀"),
        ('"grüße\u2028"'.encode(), "grüße\u2028"),
        (b'[1, {"a": [2]}]', [1, {"a": [2]}]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_json_is_parsed(data: bytes, value: JsonValue) -> None:
    assert parse_json(data) == value


def test_a_raw_part_of_a_document_is_parsed() -> None:
    assert parse_json(msgspec.Raw(b'{"a": [1]}')) == {"a": [1]}


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b"", 1, 1, "the text ends too early"),
        (b"[1,\n2", 2, 2, "the text ends too early"),
        (b'{"a": 1,\n "b": x}', 2, 7, "invalid character"),
        (b'[\n\n  "a" "b"]', 3, 7, "expected ',' or ']'"),
        (b"{'a': 1}", 1, 2, "object keys must be strings"),
        (b"[1,]", 1, 4, "trailing comma in array"),
        ('["é😀", x]'.encode(), 1, 8, "invalid character"),
        (b"\xef\xbb\xbf1", 1, 1, "invalid character"),
        (b"NaN", 1, 1, "invalid character"),
        (b'\n```json\n{"a": 1}\n```', 2, 1, "the text begins with a code fence (```)"),
        (b"[\n```]", 2, 1, "invalid character"),
        (b"[1,\n Infinity]", 2, 2, "invalid character"),
        (b'"raw \x01 control"', 1, 6, "invalid character"),
        (b'"a\tb"', 1, 3, "invalid character"),
    ],
)
def test_a_refusal_names_line_column_and_reason(
    data: bytes, line: int, column: int, reason: str
) -> None:
    error = refusal(data)

    assert (str(error), error.line) == (f"{reason} (column {column})", line)
    assert error.code == "invalid_json"


@pytest.mark.parametrize(
    "data", [b"1e400", b"-1e999", b"1" * 5000, b'"\\ud800"', b'["\\udc00\\ud800"]']
)
def test_the_strict_parse_refuses_what_a_second_look_can_read(data: bytes) -> None:
    assert refusal(data).code == "invalid_json"
    assert parse_json_tolerantly(data).problems


def test_a_refused_raw_part_is_placed_within_itself() -> None:
    raw = raw_members(b'{"b": 1,\n "a": [1,\n 1e400]}')["a"]

    with pytest.raises(ParseError) as caught:
        parse_json(raw)

    assert caught.value.line == 2


@pytest.mark.parametrize("data", [b'"\xff"', b'{"\xc3(": 1}'])
def test_bytes_that_are_not_utf8_are_said_to_be_so(data: bytes) -> None:
    assert refusal(data).code == "invalid_encoding"
    assert tolerant_refusal(data).code == "invalid_encoding"


@pytest.mark.parametrize("levels", [MAX_DEPTH, MAX_DEPTH - 1])
def test_nesting_up_to_the_limit_is_read(levels: int) -> None:
    assert depth(parse_json(nested(levels))) == levels
    assert depth(parse_json_tolerantly(nested(levels)).value) == levels


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 600, 980, 10_000, 1_000_000])
def test_nesting_beyond_the_limit_is_refused(levels: int) -> None:
    expected = f"nested deeper than {MAX_DEPTH} levels"

    assert str(refusal(nested(levels))) == expected
    assert str(tolerant_refusal(nested(levels))) == expected


@pytest.mark.parametrize("levels", [MAX_DEPTH, MAX_DEPTH + 1])
@pytest.mark.parametrize("inmost", ["{}", "[]"])
@pytest.mark.parametrize("kinds", ["o", "a", "oa", "aoo"])
def test_objects_and_arrays_nest_up_to_the_limit(kinds: str, inmost: str, levels: int) -> None:
    text = inmost
    for place in range(levels - 1):
        text = f"[{text}]" if kinds[place % len(kinds)] == "a" else f'{{"":{text}}}'

    if levels > MAX_DEPTH:
        assert str(refusal(text.encode())) == f"nested deeper than {MAX_DEPTH} levels"
    else:
        assert depth(parse_json(text.encode())) == levels


def test_many_brackets_side_by_side_are_not_deep() -> None:
    data = b"[" + b",".join([b'[{"a": []}]'] * 1000) + b"]"

    assert depth(parse_json(data)) == 4


# --- the second look


@pytest.mark.parametrize(
    ("data", "value", "path", "code", "said"),
    [
        (
            b'{"a": ["x\\ud800y"]}',
            {"a": ["x\ufffdy"]},
            ("a", 0),
            "invalid_encoding",
            "a[0] has an unpaired surrogate code point",
        ),
        (
            b'{"k\\udfff": 1}',
            {"k\ufffd": 1},
            ("k\ufffd",),
            "invalid_encoding",
            "k\ufffd has an unpaired surrogate code point",
        ),
        (
            b'{"a": 1e400}',
            {"a": None},
            ("a",),
            "value_out_of_range",
            "a is a number too large to hold: 1e400",
        ),
        (
            b"[0, -1E999]",
            [0, None],
            (1,),
            "value_out_of_range",
            "[1] is a number too large to hold: -1E999",
        ),
        (
            b"1" * 4301,
            None,
            (),
            "value_out_of_range",
            f"the value is a number too large to hold: {'1' * 17}...",
        ),
    ],
)
def test_what_cannot_be_held_is_replaced_and_reported(
    data: bytes, value: JsonValue, path: Path, code: str, said: str
) -> None:
    look = parse_json_tolerantly(data)

    assert look.value == value
    assert [(item.path, item.code, spoken(item)) for item in look.problems] == [(path, code, said)]


def test_every_problem_is_reported() -> None:
    look = parse_json_tolerantly(b'{"\\ud800": {"a": "\\ud800"}, "n": [1e400, 1e400]}')

    assert [problem.path for problem in look.problems] == [
        ("\ufffd",),
        ("\ufffd", "a"),
        ("n", 0),
        ("n", 1),
    ]


@pytest.mark.parametrize(
    ("data", "is_held"),
    [
        (b"9" * 308, True),
        (str(MAX_NUMBER).encode(), True),
        (str(MAX_NUMBER + 1).encode(), False),
        (b"-" + str(MAX_NUMBER + 1).encode(), False),
        (b"9" * 4300, False),
        (b"9" * 4301, False),
        (b'{"a": ["' + b"9" * 400 + b'"]}', True),
        (b'{"a": [' + b"9" * 400 + b"]}", False),
        (b"0." + b"1" * 400, True),
    ],
    ids=lambda value: str(value)[:12],
)
def test_both_parses_hold_the_integers_that_floats_can_hold(data: bytes, is_held: bool) -> None:
    look = parse_json_tolerantly(data)

    assert is_held is not bool(look.problems)
    if is_held:
        assert parse_json(data) == look.value
    else:
        assert refusal(data).code in {"value_out_of_range", "invalid_json"}


@pytest.mark.parametrize("before", range(0, 320, 7))
def test_a_number_too_large_is_refused_wherever_it_stands(before: int) -> None:
    data = b'{"a": "' + b"x" * before + b'", "b": 2' + b"0" * (len(str(MAX_NUMBER)) - 1) + b"}"

    assert refusal(data).code == "value_out_of_range"


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"[1,\n x]", 2, "expecting value (column 2)"),
        (b"[1] 2", 1, "extra data (column 5)"),
        (b'{"a": 1,\n\n"b" 2}', 3, "expecting ':' delimiter (column 5)"),
        (b'"\\x"', 1, "invalid \\escape (column 2)"),
        (b'"a\x01"', 1, "invalid control character at (column 3)"),
        (b"NaN", 1, "the constant NaN is not JSON (column 1)"),
        (
            b'["NaN",\n "\\"Infinity",\n  -Infinity]',
            3,
            "the constant -Infinity is not JSON (column 3)",
        ),
        (b'{"NaN": Infinity}', 1, "the constant Infinity is not JSON (column 9)"),
    ],
)
def test_the_second_look_refuses_what_is_not_json(data: bytes, line: int, message: str) -> None:
    error = tolerant_refusal(data)

    assert (error.line, str(error), error.code) == (line, message, "invalid_json")


@pytest.mark.parametrize("data", [b'["a",\x01 "b"]', b'"a\tb"', b'"a\nb"'])
def test_control_characters_between_values_and_raw_breaks_are_never_read(data: bytes) -> None:
    with pytest.raises(ParseError):
        parse_json_tolerantly(data)


@settings(max_examples=examples(300))
@given(VALUES, st.booleans(), st.sampled_from([None, 0, 2]))
def test_on_valid_json_all_parsers_agree(
    value: JsonValue, is_ascii: bool, indent: int | None
) -> None:
    data = json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode()

    assert parse_json(data) == value
    assert parse_json_tolerantly(data).value == json.loads(data) == value
    assert parse_json_tolerantly(data).problems == ()


@settings(max_examples=examples(300))
@given(VALUES, st.data())
def test_mutated_json_gives_a_value_or_a_parse_error(
    value: JsonValue, data: st.DataObject
) -> None:
    text = bytearray(json.dumps(value).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        text[place : place + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from(
                [b"", b'"', b"\\", b"\\ud800", b"[", b"}", b",", b"\x01", b"e9", b"NaN"]
            )
        )

    assert_only_parse_errors(bytes(text))


@settings(max_examples=examples(300))
@given(st.binary())
def test_random_bytes_give_a_value_or_a_parse_error(data: bytes) -> None:
    assert_only_parse_errors(data)


def assert_only_parse_errors(data: bytes) -> None:
    strict = outcome(parse_json, data)
    tolerant = outcome(parse_json_tolerantly, data)
    members = outcome(raw_members, data)

    if not isinstance(strict, ParseError):
        assert tolerant == SecondLook(cast(JsonValue, strict), ())
    assert isinstance(members, dict | ParseError)


def outcome(parse: Callable[[bytes], object], data: bytes) -> object:
    try:
        return parse(data)
    except ParseError as error:
        return error


# --- parts and sizes


def test_a_serialized_value_is_compact_utf8() -> None:
    assert compact({"a": [1, "é", None], "b": 0.5}) == '{"a":[1,"é",null],"b":0.5}'.encode()


def test_a_lone_surrogate_does_not_stop_measuring() -> None:
    assert len(compact("\ud800")) == 5


def test_members_are_taken_apart_without_parsing_them() -> None:
    members = raw_members(b'{"a": [1,  2], "b": {"c": 1e400}}')

    assert {name: bytes(raw) for name, raw in members.items()} == {
        "a": b"[1,  2]",
        "b": b'{"c": 1e400}',
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[1]", "invalid_field_type"),
        (b"null", "invalid_field_type"),
        (b'{"a": }', "invalid_json"),
        (b'{"\xff": 1}', "invalid_encoding"),
        (b'{"a": ' + nested(100_000) + b"}", "invalid_json"),
    ],
)
def test_a_document_that_is_no_object_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        raw_members(data)

    assert caught.value.code == code


def test_items_are_taken_apart_without_parsing_them() -> None:
    items = raw_items(msgspec.Raw(b'[1, {"a":  2}]'))

    assert items is not None
    assert [bytes(item) for item in items] == [b"1", b'{"a":  2}']


@pytest.mark.parametrize("data", [b"{}", b"null", b'"[]"'])
def test_what_is_no_array_has_no_items(data: bytes) -> None:
    assert raw_items(msgspec.Raw(data)) is None


@pytest.mark.parametrize(
    ("value", "levels"),
    [(1, 0), ("x", 0), ([], 1), ({"a": 1}, 1), ([[2], {"a": [1]}], 3), ({"a": [{"b": 1}]}, 3)],
)
def test_depth_counts_objects_and_arrays(value: JsonValue, levels: int) -> None:
    assert depth(value) == levels


def test_depth_needs_no_recursion() -> None:
    value: JsonValue = []
    for _ in range(5000):
        value = [value]

    assert depth(value) == 5001


def test_a_problem_of_the_second_look_is_an_error() -> None:
    problem = parse_json_tolerantly(b"1e400").problems[0]

    assert isinstance(problem, Problem)
    assert problem.severity == "error"
