"""The request and the expectations of a record, as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.results.predictions import Prediction


def request_text(row: Prediction) -> str | None:
    """The messages of a prediction; with their roles if there are several."""
    if row.request is None:
        return None
    messages: list[JsonObject] = row.request["messages"]
    if len(messages) == 1:
        return shown(messages[0]["content"])
    return "\n\n".join(f"{message['role']}: {shown(message['content'])}" for message in messages)


def question_text(row: Prediction) -> str:
    """What the user asked last, without what was said before; empty if it is not known."""
    if row.request is None:
        return ""
    messages: list[JsonObject] = row.request["messages"]
    asked = [one for one in messages if one.get("role") == "user"] or messages
    if not asked:
        return ""
    content = asked[-1]["content"]
    if not isinstance(content, list):
        return shown(content)
    blocks = (one["text"] for one in content if isinstance(one, dict) and "text" in one)
    return " ".join(shown(text) for text in blocks) or shown(content)


def question_and_context(row: Prediction) -> tuple[str | None, str | None]:
    """The last message of a user, and all others with their roles; None where there is none."""
    messages: list[JsonObject] = row.request["messages"] if row.request is not None else []
    asked = [place for place, one in enumerate(messages) if one["role"] == "user"]
    if not asked:
        return request_text(row), None
    others = [one for place, one in enumerate(messages) if place != asked[-1]]
    context = "\n\n".join(f"{one['role']}: {shown(one['content'])}" for one in others)
    return shown(messages[asked[-1]]["content"]), context or None


def expected_text(row: Prediction) -> str | None:
    """The expectations of the record; None if it has none."""
    return "\n".join(_expectation_texts(row.expected)) if row.expected else None


def expected_lines(expected: JsonObject | str) -> Iterator[tuple[str, str]]:
    """Each expectation, with its name."""
    if isinstance(expected, str):
        yield "answer", expected
        return
    for name, value in expected.items():
        word = _WORDS.get(name, name)
        for one in _each(name, value):
            yield word, one


_WORDS = {
    "answers": "answer",
    "choices": "choice",
    "criteria": "criterion",
    "messages": "messages",
}


def shown(value: JsonValue) -> str:
    """Text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _expectation_texts(expected: JsonObject | str) -> Iterator[str]:
    """Each expectation as a line; a single answer without its name."""
    lines = list(expected_lines(expected))
    if len(lines) == 1 and lines[0][0] == "answer":
        yield lines[0][1]
        return
    yield from (f"{word}: {text}" for word, text in lines)


def _each(name: str, value: JsonValue) -> Iterator[str]:
    if name == "criteria":
        for one in cast("list[JsonObject]", value):
            yield f"{one['text']} ({one['weight']:g})"
    elif name in {"answers", "choices"}:
        yield from map(shown, cast("list[JsonValue]", value))
    else:
        yield shown(value)
