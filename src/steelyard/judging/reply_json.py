"""The JSON in a judge's reply, and how far the reply was from being it."""

from __future__ import annotations

import json
import re
from typing import NamedTuple, NoReturn, cast

from steelyard.formats.braces import closed_at
from steelyard.judging.questions_asked import Rung
from steelyard.judging.repair import repaired
from steelyard.model.json_value import JsonObject, JsonValue

_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = "```"
_LANGUAGE = re.compile(r"\w*+\s*+")


class RepliedJson(NamedTuple):
    """A value that a reply holds, or what stops it from holding one."""

    value: JsonValue = None
    rung: Rung = "native"
    fault: str | None = None
    """`truncated` or `unusable`; None where there is a value."""
    complaint: str = ""
    is_json: bool = True
    """Whether there is JSON in it; else the value is its words."""


def replied_json(text: str) -> RepliedJson:
    """What a reply says in JSON: as it is, between other things, or after repair.

    A reply that says two different things says nothing.
    """
    whole = text.strip().removeprefix("\ufeff")
    is_json, value = _parsed(whole)
    if is_json:
        return RepliedJson(value)
    after = _after_thoughts(whole)
    if after is None:
        return RepliedJson(fault="truncated", complaint="it ends before any answer")
    bare = _unfenced(after)
    is_json, value = _parsed(bare)
    if is_json:
        return RepliedJson(value, "stripped")
    return _embedded(after) or _repaired(after) or RepliedJson(bare, "coerced", is_json=False)


def _embedded(text: str) -> RepliedJson | None:
    """The objects that stand between other words; None where they are not whole."""
    values: list[JsonValue] = []
    place, is_torn = 0, False
    while (start := text.find("{", place)) >= 0:
        end = closed_at(text, start)
        is_json, value = _parsed(text[start:end]) if end else (False, None)
        if not end or not is_json:
            return None
        is_torn = is_torn or _has_remains(text[place:start])
        values.append(value)
        place = end
    # Remains of an object show that the one before was closed too early.
    if not values or is_torn or _has_remains(text[place:]):
        return None
    if any(other != values[0] for other in values):
        return RepliedJson(fault="unusable", complaint="it holds several answers that differ")
    return RepliedJson(values[0], "stripped")


def _has_remains(text: str) -> bool:
    return "}" in text or '"value"' in text


def _repaired(text: str) -> RepliedJson | None:
    start = text.find("{")
    if start < 0:
        return None
    made = None if _has_remains(text[:start]) else repaired(text[start:])
    is_json, value = _parsed(made) if made else (False, None)
    if is_json:
        return RepliedJson(value, "repaired")
    if closed_at(text, start) is None:
        return RepliedJson(fault="truncated", complaint="it breaks off before its end")
    return RepliedJson(fault="unusable", complaint="it is not valid JSON")


def _after_thoughts(text: str) -> str | None:
    """What follows the last thought; None where the last one never ends."""
    place = 0
    for found in _THOUGHT_ENDS.finditer(text):
        place = found.end()
    rest = text[place:].strip()
    begun = _THOUGHT_BEGINS.match(rest)
    return None if begun else rest


def _unfenced(text: str) -> str:
    head, _, rest = text.partition("\n")
    body = rest.rstrip()
    is_opened = head.startswith(_FENCE) and _LANGUAGE.fullmatch(head, len(_FENCE))
    return body.removesuffix(_FENCE).strip() if is_opened and body.endswith(_FENCE) else text


def _parsed(text: str) -> tuple[bool, JsonValue]:
    """Whether a text is JSON of one meaning, and what it says."""
    try:
        value = _decode(text)
    except (ValueError, RecursionError):
        return False, None
    return True, cast(JsonValue, value)


def _once(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    """An object whose names all differ; with two of a name nobody knows which is meant."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice")
    return made


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decode = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse).decode
