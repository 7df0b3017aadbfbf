"""Texts that are JSON themselves stay so when something in them is replaced."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from steelyard.engine.redaction.text import TextSpan, with_marks

_BEGIN = re.compile(r"\s*[\[{]")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*+"')
_TOKEN = re.compile(rf'{_LITERAL.pattern}|[0-9.eE+-]++|[^"]')


def is_json_text(text: str) -> bool:
    """Whether a text is an object or a list of JSON."""
    if not _BEGIN.match(text):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def inner_texts(text: str, clean: Callable[[str], str]) -> str:
    """A JSON text whose strings are cleaned where they are JSON themselves."""

    def cleaned(literal: re.Match[str]) -> str:
        inner = json.loads(literal[0], strict=False) if _BEGIN.match(literal[0], 1) else ""
        if not is_json_text(inner):
            return literal[0]
        left = clean(inner)
        return literal[0] if left == inner else json.dumps(left, ensure_ascii=False)

    return _LITERAL.sub(cleaned, text)


def replaced_in_json(text: str, spans: list[TextSpan], mark: str) -> str:
    """A JSON text with marks: quoted ones for numbers."""
    return with_marks(text, _marked(text, spans, mark)) if spans else text


def _marked(text: str, spans: list[TextSpan], mark: str) -> Iterator[tuple[TextSpan, str]]:
    tokens = [TextSpan(*found.span()) for found in _TOKEN.finditer(text)]
    starts = [token.start for token in tokens]
    done = 0
    for span in spans:
        token = tokens[bisect_right(starts, span.start) - 1]
        if text[token.start] == '"':
            yield span, mark
        elif token.start >= done:
            done = token.end
            yield token, f'"{mark}"'
