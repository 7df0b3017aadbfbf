"""Patterns of JavaScript find in RE2 what they find there."""

from __future__ import annotations

import pytest

from steelyard.checks.regex import Regex
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.usecases.convert.promptfoo.patterns import re2_pattern


def finds(pattern: str, text: str) -> bool | None:
    trace = Trace(messages=(Message(role="assistant", content=text),))
    return Regex(pattern=re2_pattern(pattern)).check(trace, Case(id="a", dataset="d")).passed


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        (r"a\sb", "a\u00a0b", True),
        (r"a\sb", "a\ufeffb", True),
        (r"a\sb", "a\vb", True),
        (r"a[\s,]b", "a\u2003b", True),
        (r"a[^\s]b", "a\u00a0b", False),
        (r"a\Sb", "a\u00a0b", False),
        (r"a.b", "a\rb", False),
        (r"a.b", "a\u2028b", False),
        (r"a.b", "a\u00e9b", True),
        (r"a\.b", "axb", False),
        (r"a[.]b", "axb", False),
        (r"a[\]\s]b", "a b", True),
        (r"a(?:\s|x)b", "a\u00a0b", True),
    ],
)
def test_white_space_and_line_ends_are_those_of_javascript(
    pattern: str, text: str, is_found: bool
) -> None:
    assert finds(pattern, text) is is_found
