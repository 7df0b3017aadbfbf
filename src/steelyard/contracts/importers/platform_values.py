"""What platforms write into free fields: questions and answers as texts, messages or objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from steelyard.contracts.importers.conversation import as_object, as_objects, from_text
from steelyard.contracts.importers.openai_evals import ANSWERS, INPUTS
from steelyard.contracts.importers.openai_messages import messages_of, text_of
from steelyard.contracts.importers.source_row import Imported, one_of, wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue

CASE_NAMES = ("input", "expected_output")
"""The fields of a case that a member of an item's objects can fill."""
_SAID = ("content", "output", "response", "text", "result", *ANSWERS)
_SEVERAL = "the first of several good answers is the reference; metadata keeps all"
_TAKEN = "metadata has a field of that name already"


def platform_case(
    record_id: str,
    given: Mapping[str, JsonValue],
    metadata: JsonObject,
    names: Mapping[str, str],
) -> Imported:
    """An item as an eval case: `given` has what is asked, and the expected output if any.

    Members of an object that no field takes are kept in metadata.
    """
    changes: list[Change] = []
    asked, rest = _asked(given.get("input"), names.get("input"))
    kept: JsonObject = {"input": rest} if rest else {}
    row: JsonObject = {"id": record_id, "input_messages": [*asked]}
    answers, whole = _expected(given.get("expected_output"), names.get("expected_output"))
    if answers:
        row["expected_messages"] = [{"role": "assistant", "content": answers[0]}]
    if len(answers) > 1:
        row["expected_outcome"] = one_of(answers)
        changes.append(Change("expected_output", _SEVERAL, is_lost=False))
    if whole is not None:
        kept["expected_output"] = whole
    changes += [Change(name, _TAKEN) for name in kept if name in metadata]
    found = {**kept, **metadata}
    return Imported({**row, "metadata": found} if found else row, tuple(changes))


def question_messages(value: JsonValue) -> list[JsonObject]:
    """What a trace was given, as messages; an object without a question is its JSON."""
    value = from_text(value)
    if _are_messages(value):
        return as_objects(value)
    try:
        return _asked(value, None)[0]
    except ParseError:
        return [] if value in (None, "", {}, []) else [{"role": "user", "content": _json(value)}]


def answer_messages(value: JsonValue) -> list[JsonObject]:
    """What a trace gave back, as messages of the assistant."""
    value = _inner(value)
    if _are_messages(value):
        return as_objects(value)
    held = as_object(value)
    choices = as_objects(held.get("choices"))
    message = as_object(choices[0].get("message")) if choices else held
    if message.get("role"):
        return [message]
    text = answer_text(value)
    return [{"role": "assistant", "content": text}] if text else []


def answer_text(value: JsonValue) -> str:
    """The answer in a text or an object; the JSON of what names none."""
    value = _inner(value)
    if value in (None, "", {}, []):
        return ""
    if isinstance(value, str):
        return value
    if _are_messages(value):
        return text_of(as_objects(value)[-1].get("content"))
    held = as_object(value)
    texts = [held[name] for name in _SAID if isinstance(held.get(name), str)]
    if len(held) == 1 and isinstance(only := next(iter(held.values())), str):
        texts.append(only)
    return str(texts[0]) if texts else _json(value)


def nanoseconds(value: JsonValue) -> int:
    """A time as platforms write it; 0 where it is none. Without a zone it is UTC."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return 0
    if isinstance(value, int | float):
        return int(value * 1_000_000) if value > 0 else 0
    try:
        at = datetime.fromisoformat(value.strip())
    except ValueError:
        return 0
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    since = at - datetime.fromtimestamp(0, UTC)
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def plain_label(value: JsonValue) -> str:
    """A score as people write it: whole numbers without a fraction."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _asked(value: JsonValue, mapped: str | None) -> tuple[list[JsonObject], JsonObject]:
    """What is asked, and the other members of the object that holds it."""
    value = from_text(value)
    if not isinstance(value, dict):
        if mapped is not None:
            raise wrong(f"no field '{mapped}' to map to 'input': the input is no object")
        found = messages_of(value)
        if not found:
            raise wrong("nothing says what is asked: the input is empty")
        return found, {}
    held = [name for name in INPUTS if value.get(name) not in (None, "", [])]
    name = mapped or (held[0] if held else "")
    if not name and len(value) == 1:
        name = next(iter(value))
    listed = ", ".join(f"'{one}'" for one in list(value)[:8]) or "no fields"
    if mapped is not None and mapped not in value:
        raise wrong(f"no field '{mapped}' to map to 'input'; the input has {listed}")
    asked = value.get(name)
    found = messages_of([asked] if isinstance(asked, dict) and "role" in asked else asked)
    if not found:
        raise wrong(
            f"nothing says what is asked: the input has {listed}; map one of them to 'input'"
        )
    return found, {one: item for one, item in value.items() if one != name}


def _expected(value: JsonValue, mapped: str | None) -> tuple[list[str], JsonValue]:
    """Good answers, and the whole value where the answers do not say all of it."""
    value = from_text(value)
    if value in (None, "", {}, []):
        return [], None
    held = as_object(value)
    if mapped is not None and held:
        if mapped not in held:
            listed = ", ".join(f"'{one}'" for one in list(held)[:8])
            raise wrong(
                f"no field '{mapped}' to map to 'expected_output'; the output has {listed}"
            )
        return [text_of(held[mapped])], value if len(held) > 1 else None
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value], value if len(value) > 1 else None
    if held:
        named = [name for name in ANSWERS if name in held]
        listed_answers = held[named[0]] if named else None
        if isinstance(listed_answers, list):
            return [text_of(one) for one in listed_answers], value
    text = answer_text(value)
    is_whole = not held or len(held) == 1 or set(held) <= {"role", "content"}
    return [text], None if is_whole or text == _json(value) else value


def _inner(value: JsonValue) -> JsonValue:
    """The messages of an object that holds nothing else, or the value itself."""
    value = from_text(value)
    held = as_object(value)
    is_wrapped = len(held) == 1 and _are_messages(held.get("messages"))
    return held["messages"] if is_wrapped else value


def _are_messages(value: JsonValue) -> bool:
    listed = value if isinstance(value, list) else []
    return bool(listed) and all("role" in as_object(one) for one in listed)


def _json(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
