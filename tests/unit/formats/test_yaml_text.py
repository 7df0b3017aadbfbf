from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import ParseError
from steelyard.formats.json_text import compact, depth
from steelyard.formats.yaml_text import (
    MAX_ALIASED_NODES,
    MAX_ALIASED_TEXT,
    MAX_DEPTH,
    is_plain_text,
    parse_yaml,
)
from steelyard.model.json_value import JsonValue, Path
from strategies.effort import examples

EVAL_FILE = """\
# yaml-language-server: $schema=https://example.org/eval.schema.json
dataset: opening-day
defaults: &defaults {weight: 1.0, tags: [a, "b"]}
evalcases:
  - id: one
    <<: *defaults
    expected_outcome: >-
      Says when the library
      opens.
    input_messages:
      - role: user
        content: |
          When do you open?
            (an indented line)
  - {id: 'two', input: "It's \\u00e9 \\t", n: 0x1F, ok: true, none: ~}
"""


def value_of(text: str) -> JsonValue:
    return parse_yaml(text.encode()).value


def refusal(data: str | bytes) -> ParseError:
    with pytest.raises(ParseError) as caught:
        parse_yaml(data.encode() if isinstance(data, str) else data)
    return caught.value


# --- scalars by the core schema of YAML 1.2


@pytest.mark.parametrize(
    "text",
    [
        "2025-01-01",
        "2025-01-01T10:00:00Z",
        "no",
        "No",
        "on",
        "off",
        "yes",
        "y",
        "tRUE",
        "nULL",
        "None",
        "1_000",
        "0b11",
        "0o8",
        "0x",
        "0xZZ",
        "-0x1F",
        "+0o7",
        "12:30:00",
        "190:20:30",
        "1.2.3",
        "1e",
        ".",
        "..5",
        "+",
        "1,000",
        "=",
        "inf",
        "nan",
        "+.nan",
        "١٢",
    ],
)
def test_these_plain_words_stay_text(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("", None),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("-12", -12),
        ("010", 10),
        ("08", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("0xff", 255),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("1E-2", 0.01),
        ("+1.5e+3", 1500.0),
    ],
)
def test_these_plain_words_mean_a_value(text: str, value: JsonValue) -> None:
    read = value_of(f"a: {text}")

    assert read == {"a": value}
    assert isinstance(read, dict)
    assert type(read["a"]) is type(value)


@pytest.mark.parametrize("text", ["'12'", '"12"', "!!str 12", "! 12"])
def test_a_number_in_quotes_or_with_a_text_tag_is_text(text: str) -> None:
    assert value_of(text) == "12"


def test_a_number_in_a_block_is_text() -> None:
    assert value_of("a: |-\n  12\nb: >-\n  true") == {"a": "12", "b": "true"}


@pytest.mark.parametrize("text", [".inf", "-.inf", "+.INF", ".Inf", ".nan", ".NaN", ".NAN"])
def test_what_is_not_finite_is_refused(text: str) -> None:
    error = refusal(f"a: 1\nb: {text}")

    assert str(error) == f"'{text}' is not a number that data can hold"
    assert (error.line, error.code) == (2, "invalid_yaml")


@pytest.mark.parametrize(
    "text",
    [
        "1e400",
        "-1e999",
        "1" * 4301,
        "9" * 309,
        "-" + "9" * 400,
        "1" * 1_000_000,
        "0x1" + "0" * 3600,
        "0o" + "7" * 4900,
    ],
)
def test_a_number_too_large_to_hold_is_refused(text: str) -> None:
    error = refusal(f"a: {text}")

    assert str(error).startswith("number too large to hold")
    assert len(str(error)) < 80


@pytest.mark.parametrize("text", ["9" * 308, "0x" + "f" * 255, "0x" + "0" * 4000 + "1"])
def test_a_number_that_is_held_can_be_written(text: str) -> None:
    assert compact(value_of(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!int 12", 12),
        ("!!int '0x10'", 16),
        ("!!float 1.5", 1.5),
        ("!!float 3", 3),
        ("!!bool true", True),
        ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
    ],
)
def test_the_tags_of_json_values_are_read(text: str, value: JsonValue) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!foo bar", "tag !foo is not supported"),
        ("!!python/object:os.system x", "tag tag:yaml.org,2002:python/object:os.system is not"),
        ("!!binary aGk=", "tag tag:yaml.org,2002:binary is not supported"),
        ("!!set {a}", "tag tag:yaml.org,2002:set is not supported"),
        ("!!map [1]", "tag tag:yaml.org,2002:map is not supported"),
        ("!!str {}", "tag tag:yaml.org,2002:str is not supported"),
        ("!!int true", "'true' is not a int"),
        ("!!float true", "'true' is not a float"),
        ("!!null x", "'x' is not a null"),
        ("!!bool yes", "'yes' is not a bool"),
        ("{!foo k: 1}", "tag !foo is not supported on a key"),
        ("{!!int 1: 1}", "tag tag:yaml.org,2002:int is not supported on a key"),
        ("%TAG ! tag:x,2:\n--- !a b", "tag tag:x,2:a is not supported"),
    ],
)
def test_other_tags_are_refused(text: str, message: str) -> None:
    assert str(refusal(text)).startswith(message)


# --- mappings, duplicates and merges


def test_keys_are_texts_whatever_they_look_like() -> None:
    text = "1: a\nyes: b\n~: c\ntrue: d\n2025-01-01: e\n!!str 5: f\n? long\n: g\n"

    assert value_of(text) == {
        "1": "a",
        "yes": "b",
        "~": "c",
        "true": "d",
        "2025-01-01": "e",
        "5": "f",
        "long": "g",
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\n\na: 3\n", 4),
        ("{a: 1, a: 2}", 1),
        ("x:\n  - k: 1\n    'k': 2\n", 3),
        ("1: a\n'1': b\n", 2),
        ("<<: 1\n<<: 2\n", 2),
        ("'<<': 1\n'<<': {a: 1}\n", 2),
    ],
)
def test_a_duplicate_key_is_refused_with_its_line(text: str, line: int) -> None:
    error = refusal(text)

    assert str(error).startswith("duplicate key '")
    assert error.line == line


def test_the_same_key_may_stand_in_different_mappings() -> None:
    assert value_of("a: {k: 1}\nb: {k: 2}") == {"a": {"k": 1}, "b": {"k": 2}}


@pytest.mark.parametrize("text", ["? [1]\n: 2", "? {a: b}\n: c", "[a, b]: c", "{{a: 1}: 2}"])
def test_a_collection_cannot_be_a_key(text: str) -> None:
    assert str(refusal(text)) == "a key must be a plain text"


def test_an_alias_cannot_be_a_key() -> None:
    error = refusal("a: &x k\n*x : 3")

    assert (str(error), error.line) == ("a key must be written out, not an alias", 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
        ("b: 2\na: 0\n<<: {a: 1}", {"a": 0, "b": 2}),
        ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
        ("<<: {a: 1}\n<<: {a: 2, b: 2}", {"a": 1, "b": 2}),
        ("<<: {<<: {a: 1}, b: 2}", {"a": 1, "b": 2}),
        ("<<: text", {"<<": "text"}),
        ("'<<': {a: 1}", {"<<": {"a": 1}}),
        ("!!str <<: {a: 1}", {"<<": {"a": 1}}),
    ],
)
def test_a_merge_key_adds_what_is_not_written_out(text: str, value: JsonValue) -> None:
    assert value_of(text) == value


def test_a_merged_anchor_stays_as_it_was() -> None:
    value = value_of("base: &b {x: 1, y: 2}\nmade:\n  <<: *b\n  x: 9\n")

    assert value == {"base": {"x": 1, "y": 2}, "made": {"x": 9, "y": 2}}


@pytest.mark.parametrize("text", ["a: 1\n<<: [1]", "a: 1\n<<: [{b: 1}, [c]]"])
def test_only_mappings_can_be_merged(text: str) -> None:
    error = refusal(text)

    assert (str(error), error.line) == ("'<<' takes a mapping or a list of mappings", 2)


# --- aliases


def test_an_alias_stands_for_its_anchor() -> None:
    value = value_of("- &s text\n- &l [1]\n- &m {a: *s}\n- [*s, *l, *m]\n- {&k key: *k}")

    assert value == ["text", [1], {"a": "text"}, ["text", [1], {"a": "text"}], {"key": "key"}]


def test_an_anchor_may_be_set_anew() -> None:
    assert value_of("[&a 1, *a, &a 2, *a]") == [1, 1, 2, 2]


@pytest.mark.parametrize("text", ["*x", "a: 1\nb: *x", "a: &x [*x]", "&x {b: {c: *x}}"])
def test_an_alias_of_nothing_or_of_itself_is_refused(text: str) -> None:
    assert str(refusal(text)) == "alias *x names no anchor that is complete here"


def test_an_alias_bomb_is_refused_at_once() -> None:
    names = "abcdefghi"
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in pairwise(names)
    )

    error = refusal(text)

    assert str(error) == f"aliases stand for more than {MAX_ALIASED_NODES} values"
    assert error.line == 5


@pytest.mark.parametrize("held", ["{long}", "[{long}]", "{{a: [{long}]}}"])
def test_aliases_of_a_long_text_are_refused_at_once(held: str) -> None:
    long = held.format(long="x" * 99_000)
    text = f"a: &a {long}\nb: [{', '.join(['*a'] * 162)}]\n"

    assert str(refusal(text)) == f"aliases stand for more than {MAX_ALIASED_TEXT:,} characters"
    assert parse_yaml(text.replace(", *a", "", 1).encode())


def test_a_bomb_of_merges_is_refused_at_once() -> None:
    fields = ", ".join(f"k{index}: 1" for index in range(1000))
    text = f"a: &a {{{fields}}}\n" + "".join(f"m{index}: {{<<: *a}}\n" for index in range(200))

    assert str(refusal(text)).startswith("aliases stand for more than")


def test_aliases_cannot_build_what_is_too_deep_to_write() -> None:
    half = MAX_DEPTH // 2
    inner, outer = "[" * half + "1" + "]" * half, "[" * half + "*a" + "]" * half

    error = refusal(f"a: &a {inner}\nb: {outer}")

    assert (str(error), error.line) == (f"nested deeper than {MAX_DEPTH} levels", 2)


def test_aliases_may_reach_the_allowed_depth() -> None:
    half = MAX_DEPTH // 2
    text = f"- &a {'[' * half}1{']' * half}\n- {'[' * (half - 1)}*a{']' * (half - 1)}"

    assert depth(value_of(text)) == MAX_DEPTH


# --- depth, size, speed


@pytest.mark.parametrize("text", ["[" * MAX_DEPTH + "]" * MAX_DEPTH, "- " * MAX_DEPTH + "x"])
def test_nesting_up_to_the_limit_is_read(text: str) -> None:
    assert depth(value_of(text)) == MAX_DEPTH


@pytest.mark.parametrize(
    ("piece", "times", "message"),
    [
        ("[", 10_000_000, "nested deeper than"),
        ("{", 10_000_000, "a key must be a plain text"),
        ("{a: ", 2_500_000, "nested deeper than"),
        ("[\n", 5_000_000, "nested deeper than"),
        ("- ", 100_000, "nested deeper than"),
        ("? ", 100_000, "a key must be a plain text"),
        ("!", 1_000_000, "tag "),
        ("[", MAX_DEPTH + 1, "nested deeper than"),
    ],
)
def test_hostile_input_is_refused_fast(piece: str, times: int, message: str) -> None:
    data = piece.encode() * times
    start = time.process_time()

    error = refusal(data)

    assert str(error).startswith(message)
    assert time.process_time() - start < 2


def test_deep_block_mappings_are_refused() -> None:
    error = refusal("\n".join(" " * level + "a:" for level in range(1000)))

    assert error.line == MAX_DEPTH + 1


@pytest.mark.parametrize(
    ("start", "end"), [("!", " x"), ("{!", " k: 1}"), ("!", " [1]"), ("*", ""), ("!!int ", "")]
)
def test_a_long_name_is_cut_in_the_message(start: str, end: str) -> None:
    assert len(str(refusal(start + "x" * 100_000 + end))) < 120


def test_a_long_duplicate_key_is_cut_in_the_message() -> None:
    key = "x" * 100_000

    assert len(str(refusal(f"? {key}\n? {key}\n"))) < 120


# --- documents, encodings, characters


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "--- # c\n...\n"])
def test_an_empty_document_is_null(text: str) -> None:
    assert value_of(text) is None


def test_markers_around_one_document_are_read() -> None:
    assert value_of("%YAML 1.2\n---\nanswer: no\n...\n") == {"answer": "no"}


@pytest.mark.parametrize(
    ("text", "line"), [("a: 1\n---\nb: 2\n", 2), ("---\n---\n", 2), ("--- 1\n...\n--- 2\n", 3)]
)
def test_a_second_document_is_refused(text: str, line: int) -> None:
    error = refusal(text)

    assert (str(error), error.line) == ("more than one document; write one document a file", line)


def test_a_byte_order_mark_is_ignored() -> None:
    located = parse_yaml(b"\xef\xbb\xbfa: 1\nb: 2\n")

    assert located.value == {"a": 1, "b": 2}
    assert located.lines.at(("b",)) == 2


def test_crlf_ends_a_line_like_lf() -> None:
    located = parse_yaml(b"a: |\r\n  x\r\n  y\r\nb: 'p\r\n  q'\r\nc: 3\r\n")

    assert located.value == {"a": "x\ny\n", "b": "p q", "c": 3}
    assert located.lines.at(("c",)) == 6


@pytest.mark.parametrize(
    ("data", "line"), [(b"a: \xff", 1), (b"a: 1\nb: \xe9t\xe9\n", 2), (b"\xff\xfea\x00", 1)]
)
def test_bytes_that_are_not_utf8_are_refused(data: bytes, line: int) -> None:
    error = refusal(data)

    assert (error.line, error.code) == (line, "invalid_encoding")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: \x01", 1),
        ("a: 1\nb: 'x\x00y'\n", 2),
        ("é" * 5000 + ": 1\nb: \x7f\n", 2),
        ("\ufeff\n\n\x0b", 3),
        ("a: \x9f", 1),
        ("a: \ufffe", 1),
    ],
)
def test_a_raw_control_character_is_refused(text: str, line: int) -> None:
    error = refusal(text)

    assert str(error).startswith("character not allowed in YAML: ")
    assert (error.line, error.code) == (line, "invalid_yaml")


def test_control_characters_may_be_escaped() -> None:
    assert (
        value_of('"\\0\\x01\\e\\u007f\\N\\_\\L\\P\\t"') == "\0\x01\x1b\x7f\x85\xa0\u2028\u2029\t"
    )


@pytest.mark.parametrize("escape", ["\\ud800", "\\udfff", "\\ud83d\\ude00", "\\U0011ffff"])
def test_the_escape_of_a_surrogate_is_refused(escape: str) -> None:
    error = refusal(f'a: 1\nb: "{escape}"')

    assert (str(error), error.line) == ("found invalid Unicode character escape code", 2)


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("form", ["x{}y", "'x{}y'", '"x{}y"', "|-\n  x{}y", ">-\n  x{}y"])
def test_the_odd_breaks_of_yaml_1_1_are_text(form: str, odd: str) -> None:
    located = parse_yaml(f"a: {form.format(odd)}\nb: 1 # c{odd}d\nc: 2\n".encode())

    assert located.value == {"a": f"x{odd}y", "b": 1, "c": 2}
    assert located.lines.at(("c",)) == form.count("\n") + 3


def test_an_odd_break_may_stand_in_a_key() -> None:
    assert value_of("a\u2028b: 1") == {"a\u2028b": 1}


# --- errors and lines


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b: c", 1),
        ("a: 1\n\tb: 2", 2),
        ("a: [1,\n  2", 2),
        ("a: [1,\n  2\n\n\n", 2),
        ("- a\n-b", 2),
        ("a: 'x\n\n", 1),
        ("a: 1\nb: @x", 2),
        ("a: 1\n b: 2", 2),
        (": 2", 1),
        ("%YAML 2.0\n---\na", 1),
    ],
)
def test_broken_yaml_is_refused_with_a_line_of_the_file(text: str, line: int) -> None:
    error = refusal(text)

    assert (error.line, error.code) == (line, "invalid_yaml")
    assert str(error)


def test_a_whole_file_is_read() -> None:
    assert value_of(EVAL_FILE) == {
        "dataset": "opening-day",
        "defaults": {"weight": 1.0, "tags": ["a", "b"]},
        "evalcases": [
            {
                "id": "one",
                "expected_outcome": "Says when the library opens.",
                "input_messages": [
                    {"role": "user", "content": "When do you open?\n  (an indented line)\n"}
                ],
                "weight": 1.0,
                "tags": ["a", "b"],
            },
            {"id": "two", "input": "It's é \t", "n": 31, "ok": True, "none": None},
        ],
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 2),
        (("dataset",), 2),
        (("defaults", "tags", 1), 3),
        (("evalcases",), 4),
        (("evalcases", 0), 5),
        (("evalcases", 0, "id"), 5),
        (("evalcases", 0, "weight"), 3),
        (("evalcases", 0, "expected_outcome"), 7),
        (("evalcases", 0, "input_messages"), 10),
        (("evalcases", 0, "input_messages", 0, "content"), 12),
        (("evalcases", 0, "input_messages", 0, "missing"), 11),
        (("evalcases", 1), 15),
        (("evalcases", 1, "none"), 15),
    ],
)
def test_every_key_and_item_has_its_physical_line(path: Path, line: int) -> None:
    assert parse_yaml(EVAL_FILE.encode()).lines.at(path) == line


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a:\n  b\n", ("a",), 1),
        ("a:\n  - b\n", ("a",), 1),
        ("a:\n  - b\n", ("a", 0), 2),
        ("a:\n\n  b: 1\n", ("a", "b"), 3),
        ("x: &x {y: 1}\nz:\n  *x\n", ("z",), 2),
        ("x: &x {y: 1}\nz:\n  *x\n", ("z", "y"), 1),
        ("x: &x {y: 1}\nz: *x\n", ("x",), 1),
    ],
)
def test_a_field_has_the_line_of_its_key(text: str, path: Path, line: int) -> None:
    assert parse_yaml(text.encode()).lines.at(path) == line


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("word", True),
        ("no", True),
        ("2025-01-01", True),
        ("", False),
        ("~", False),
        ("true", False),
        ("12", False),
        ("0o17", False),
        ("1e3", False),
        (".nan", False),
        ("1e400", False),
        ("1" * 5000, False),
        ("<<", False),
    ],
)
def test_only_a_text_that_reads_as_text_is_plain(text: str, is_plain: bool) -> None:
    assert is_plain_text(text) is is_plain


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a:\n\tb: 1\n", 2),
        ('é: ü\nb:\n  - c: "1"\n  \td: 2\n', 4),
        ("\ta: 1", 1),
        ("a:\r\n\tb: 1", 2),
    ],
)
def test_a_tab_that_indents_is_called_one(text: str, line: int) -> None:
    error = refusal(text)

    assert (str(error), error.line) == (
        "a tab stands where spaces must be; indent with spaces",
        line,
    )


def test_another_character_that_begins_nothing_is_no_tab() -> None:
    assert str(refusal("a: @b")) == "found character that cannot start any token"


# --- nothing but a ParseError


def assert_only_parse_errors(data: bytes) -> None:
    try:
        located = parse_yaml(data)
    except ParseError as error:
        wrong = error
    else:
        assert depth(located.value) <= MAX_DEPTH
        assert compact(located.value)
        return

    assert wrong.code in {"invalid_yaml", "invalid_encoding"}
    assert 1 <= (wrong.line or 0) <= data.count(b"\n") + data.count(b"\r") + 1


@settings(max_examples=examples(300))
@given(st.binary())
def test_random_bytes_give_a_value_or_a_parse_error(data: bytes) -> None:
    assert_only_parse_errors(data)


@settings(max_examples=examples(300))
@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#<~ \t\n\r\\\x85\u2028.019exu")))
def test_random_marks_of_yaml_give_a_value_or_a_parse_error(text: str) -> None:
    assert_only_parse_errors(text.encode())


@settings(max_examples=examples(300))
@given(st.data())
def test_mutated_yaml_gives_a_value_or_a_parse_error(data: st.DataObject) -> None:
    text = bytearray(EVAL_FILE.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        put = st.binary(max_size=3) | st.sampled_from(
            [b"*defaults", b"&x ", b"<<: ", b"- ", b"\n"]
        )
        text[place : place + data.draw(st.integers(0, 8))] = data.draw(put)

    assert_only_parse_errors(bytes(text))
