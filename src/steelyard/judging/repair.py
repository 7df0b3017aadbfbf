"""JSON that a model wrote almost right, made right where its meaning is beyond doubt.

Repaired are quotes of the wrong kind or unescaped inside a string, line breaks in strings, names
without quotes, Python's constants, commas too many or missing, and braces missing at the end.
Nothing is guessed: a value that may have been cut off, or text that stays over, is no JSON.
Everything takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SPACE = re.compile(r"[\s\ufeff]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_CLOSING_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
# A quote ends a string where the next thing could follow one.
_ENDS = {
    closing: re.compile(rf"\\.|{closing}(?=[\s\ufeff]*(?:[,:}}\]]|\Z))", re.DOTALL)
    for closing in _CLOSING_QUOTES.values()
}
_ESCAPES = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\\'|[\\"\x00-\x1f]')
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_OPENING = {"{": "}", "[": "]"}


class Token(NamedTuple):
    """A piece of JSON: what kind of thing it is, and how JSON writes it."""

    kind: str
    text: str


def repaired(text: str) -> str | None:
    """The object that begins a text, as JSON; None where its meaning is not beyond doubt."""
    tokens = list(_tokens(text))
    if not tokens or tokens[0].text != "{" or tokens[-1].kind == "fault":
        return None
    closers = _missing_closers(tokens)
    if closers is None or (closers and tokens[-1].kind not in {"close", "string"}):
        return None
    return "".join(_joined(tokens)) + closers


def _tokens(text: str) -> Iterator[Token]:
    """The pieces up to the end of the first object; the last is a fault where none can be."""
    place, depth = 0, 0
    while (place := _end_of(_SPACE, text, place)) < len(text):
        token, place = _token(text, place)
        yield token
        if token.kind == "fault":
            return
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        if depth == 0:
            if _has_debris(text, place):
                yield Token("fault", "")
            return


def _has_debris(text: str, place: int) -> bool:
    """Whether what stays over could belong to the object after all."""
    rest = text[place:]
    return any(mark in rest for mark in '{}"')


def _token(text: str, place: int) -> tuple[Token, int]:
    mark = text[place]
    if mark in _OPENING:
        return Token("open", mark), place + 1
    if mark in "}]":
        return Token("close", mark), place + 1
    if mark in ",:":
        return Token(mark, mark), place + 1
    if mark in _CLOSING_QUOTES:
        return _string(text, place + 1, _CLOSING_QUOTES[mark])
    if number := _NUMBER.match(text, place):
        return Token("number", number[0]), number.end()
    if word := _WORD.match(text, place):
        written = _CONSTANTS.get(word[0], word[0])
        quoted = written if written in {"true", "false", "null"} else f'"{written}"'
        return Token("word", quoted), word.end()
    return Token("fault", ""), place


def _string(text: str, start: int, closing: str) -> tuple[Token, int]:
    for found in _ENDS[closing].finditer(text, start):
        if found[0] == closing:
            inside = _ESCAPES.sub(_escaped, text[start : found.start()])
            return Token("string", f'"{inside}"'), found.end()
    return Token("fault", ""), len(text)


def _escaped(found: re.Match[str]) -> str:
    mark = found[0]
    if mark == "\\'":
        return "'"
    if len(mark) > 1:
        return mark
    return f"\\{mark}" if mark in '\\"' else f"\\u{ord(mark):04x}"


def _missing_closers(tokens: list[Token]) -> str | None:
    """What closes everything that is open; None where the wrong thing is closed."""
    opened: list[str] = []
    for token in tokens:
        if token.kind == "open":
            opened.append(_OPENING[token.text])
        elif token.kind == "close" and (not opened or opened.pop() != token.text):
            return None
    return "".join(reversed(opened))


def _joined(tokens: list[Token]) -> Iterator[str]:
    """The tokens with the commas that belong between them."""
    before = ""
    for token, after in zip(tokens, [*tokens[1:], Token("close", "")], strict=True):
        if token.kind == "," and after.kind == "close":
            continue
        begins = token.kind not in {"close", ",", ":"}
        if begins and before in {"string", "number", "word", "close"}:
            yield ","
        yield token.text
        before = token.kind


def _end_of(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
