"""What a record says, and the keys that its text repeats, against a parser of a few lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.contracts.content import content_and_repeats, content_of
from steelyard.formats.json_text import parse_json_counted

NAMES = ("id", "record_id", "a", "b", "a:b", 'c"', ":", "")
TEXTS = st.text(':"\\{}[],<é\U0001f511', max_size=5) | st.sampled_from(NAMES)
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+)')


@st.composite
def written(draw: st.DrawFn, levels: int = 3) -> str:
    """JSON as nobody's encoder writes it: keys again, spaces and escapes anywhere."""
    kind = draw(st.sampled_from("nsoaoa" if levels else "ns"))
    space = draw(st.sampled_from(("", " ", "\n\t")))
    if kind == "n":
        return draw(st.sampled_from(("1", "-2.50", "1e2", "null", "true")))
    if kind == "s":
        return draw(texts())
    inner = written(levels - 1)
    if kind == "a":
        return "[" + f"{space},{space}".join(draw(st.lists(inner, max_size=3))) + space + "]"
    members = draw(st.lists(st.tuples(texts(), inner), max_size=4))
    return "{" + f",{space}".join(f"{key}{space}:{space}{one}" for key, one in members) + "}"


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A string, some of its characters as escapes."""
    shown = (
        draw(st.sampled_from((one, f"\\u{ord(one):04x}", f"\\u{ord(one):04X}")))
        if ord(one) < 0x10000 and one not in '"\\'
        else json.dumps(one)[1:-1]
        for one in draw(TEXTS)
    )
    return f'"{"".join(shown)}"'


def repeats(text: str) -> list[tuple[str | int, ...]]:
    """The paths of the keys that a text gives again, by a parser that does nothing else."""
    found: list[tuple[str | int, ...]] = []
    read(iter([match[1] for match in TOKEN.finditer(text)]), (), found)
    return found


def read(
    tokens: Iterator[str], path: tuple[str | int, ...], found: list[Any], token: str = ""
) -> bool:
    """Read one value; whether there was one, and not the end of its array or object."""
    token = token or next(tokens)
    if token in "]}":
        return False
    if token == "[":
        index = 0
        while read(tokens, (*path, index), found) and next(tokens) == ",":
            index += 1
    elif token == "{":
        seen: set[str] = set()
        while (key := next(tokens)) != "}":
            name = json.loads(key)
            if name in seen:
                found.append((*path, name))
            seen.add(name)
            next(tokens)
            read(tokens, (*path, name), found)
            if next(tokens) == "}":
                break
    return True


@given(st.lists(st.tuples(texts(), written()), max_size=5))
@example([('"a"', "1"), ('"\\u0061"', "2")])
@example([('"id"', '"x:y"'), ('"id"', '"xy"')])
@example([('"id"', '{"a": 1, "a": 2}')])
@example([('"a"', "1"), ('"a"', '"\\u003a"')])
@example([('"a"', "1"), ('"id"', '"\\u003A"'), ('"a"', "2")])
def test_repeated_keys_are_those_that_a_simple_parser_finds(
    members: list[tuple[str, str]],
) -> None:
    text = "{" + ", ".join(f"{key}: {value}" for key, value in members) + "}"
    value, colons = parse_json_counted(text.encode())

    content, found = content_and_repeats(text.encode(), value, colons)

    assert [problem.path for problem in found] == repeats(text)
    assert isinstance(value, dict)
    assert content == content_of(value)


@pytest.mark.parametrize("text", ["[1, 2]", '"a: b"', '[{"a": 1}]'])
def test_what_is_no_record_says_nothing(text: str) -> None:
    value, colons = parse_json_counted(text.encode())

    assert content_and_repeats(text.encode(), value, colons) == (b"", [])


def test_a_record_says_the_same_in_any_order_and_under_any_id() -> None:
    assert content_of({"id": "a", "x": 1, "y": {"id": 2, "b": 3}}) == content_of(
        {"y": {"b": 3, "id": 2}, "x": 1, "record_id": "b", "conversation_id": "c"}
    )
    assert content_of({"x": {"id": 1}}) != content_of({"x": {"id": 2}})
