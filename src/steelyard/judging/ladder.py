"""From a reply to answers, rung by rung; what is on no rung is unscored, and never a 0."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import exp, fsum
from typing import NamedTuple

from msgspec.structs import replace

from steelyard.formats.encoding import without_surrogates
from steelyard.judging.answer_schema import offered, values_shown
from steelyard.judging.coercion import read_value
from steelyard.judging.questions_asked import CANNOT_JUDGE, AnswerField, Choice, FieldAnswer, Rung
from steelyard.judging.reply_json import replied_json
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judgement import Reply, TokenChoice

# In JSON the quotes of a name that stands inside a string are escaped, so that this is the key.
_VALUE = re.compile(r'"value"\s*:\s*')
_BEFORE_VALUES = ' \t\n\r":'

RUNGS: tuple[Rung, ...] = (
    *("native", "stripped", "repaired", "coerced", "asked_again", "unscored"),
)
_PARTS = ("evidence", "reasoning", "value")
# Where one thing is asked, these names are taken for `value` and `reasoning`.
_VALUE_NAMES = ("value", "score", "grade", "verdict", "rating", "answer")
_REASONING_NAMES = ("reasoning", "rationale", "explanation", "reason")
_REFUSED = {"content_filter", "refusal", "safety"}
_CUT_OFF = {"length", "max_tokens"}
_LONGEST_EVIDENCE = 2_000
_LONGEST_REASONING = 8_000


class Reading(NamedTuple):
    """The answers of one reply, and what would have to be said to get better ones."""

    answers: dict[str, FieldAnswer]
    complaint: str = ""
    """Empty when there is nothing to ask again."""


def read_reply(reply: Reply, fields: Sequence[AnswerField]) -> Reading:
    """The answers that a reply holds."""
    if reply.refusal or reply.finish_reason in _REFUSED:
        return Reading(_unscored(fields, "refusal", "the judge refused to answer"))
    if not reply.text.strip():
        reason = "truncated" if reply.finish_reason in _CUT_OFF else "empty"
        return Reading(_unscored(fields, reason, "the reply is empty"), "it was empty")
    read = replied_json(reply.text)
    if reply.finish_reason in _CUT_OFF and (read.fault or read.rung in {"repaired", "coerced"}):
        complaint = "it was cut off at the limit of length; quote and reason in fewer words"
        return Reading(_unscored(fields, "truncated", "the reply was cut off"), complaint)
    if read.fault is not None:
        message = read.complaint.replace("it ", "the reply ", 1)
        return Reading(_unscored(fields, read.fault, message), read.complaint)
    reading = _read(read.value, read.rung, fields)
    if not read.is_json:
        reading = _of_prose(reading)
    return _weighted(reading, reply, fields)


def lowest(rungs: Sequence[Rung]) -> Rung:
    """The rung that is furthest down."""
    return max(rungs, key=RUNGS.index)


def _read(value: JsonValue, rung: Rung, fields: Sequence[AnswerField]) -> Reading:
    answers: dict[str, FieldAnswer] = {}
    complaints: list[str] = []
    for field in fields:
        parts, is_as_asked = _parts_of(value, field.key, is_only=len(fields) == 1)
        if isinstance(parts, str):
            complaints.append(f'it has no answer under the key "{field.key}"')
            answers[field.key] = no_answer(field, "unusable", parts)
            continue
        answer = _answer(field, parts, rung if is_as_asked else lowest((rung, "coerced")))
        answers[field.key] = answer
        if answer.reason == "unusable":
            complaints.append(f'the value under "{field.key}" must be {values_shown(field)}')
    return Reading(answers, "; ".join(complaints))


def _of_prose(reading: Reading) -> Reading:
    """The same for a reply without JSON: that is why its words are no answer."""
    answers = {
        key: replace(one, message="the reply is not JSON") if one.reason == "unusable" else one
        for key, one in reading.answers.items()
    }
    return reading._replace(answers=answers)


def _answer(field: AnswerField, parts: JsonObject, rung: Rung) -> FieldAnswer:
    value, is_coerced = read_value(field, parts["value"])
    answer = FieldAnswer(
        key=field.key,
        value=value,
        evidence=_text(parts["evidence"], _LONGEST_EVIDENCE),
        reasoning=_text(parts["reasoning"], _LONGEST_REASONING),
        rung=lowest((rung, "coerced")) if is_coerced else rung,
    )
    if value == CANNOT_JUDGE:
        message = answer.reasoning or "the judge cannot judge this"
        return replace(answer, value=None, reason=CANNOT_JUDGE, message=message)
    if value is None:
        message = f"the value under '{field.key}' is none of those asked for"
        return replace(answer, rung="unscored", reason="unusable", message=message)
    return answer


def _parts_of(value: JsonValue, key: str, *, is_only: bool) -> tuple[JsonObject | str, bool]:
    """Evidence, reasoning and value under a key, and whether they stood where they should.

    Where there are none, the message that says why.
    """
    answers = value.get("answers") if isinstance(value, dict) else None
    if isinstance(answers, dict) and key in answers:
        inner = answers[key]
        if isinstance(inner, dict) and all(part in inner for part in _PARTS):
            return inner, True
        return _loose(inner, key), False
    if isinstance(value, dict) and key in value and (not is_only or isinstance(value[key], dict)):
        return _loose(value[key], key), False
    return (_loose(value, key) if is_only else _no_answer_under(key)), False


def _no_answer_under(key: str) -> str:
    return f"the reply has no answer under '{key}'"


def _loose(value: JsonValue, key: str) -> JsonObject | str:
    """The parts of an answer in another form; a message where it could mean several things."""
    if not isinstance(value, dict):
        return {"evidence": "", "reasoning": "", "value": value}
    values = [name for name in dict.fromkeys((key, *_VALUE_NAMES)) if name in value]
    if not values:
        return _no_answer_under(key)
    if len(values) > 1:
        return f"the reply has several values for '{key}': {', '.join(values)}"
    reasons = [value[name] for name in _REASONING_NAMES if name in value]
    return {
        "evidence": value.get("evidence"),
        "reasoning": reasons[0] if reasons else "",
        "value": value[values[0]],
    }


def _weighted(reading: Reading, reply: Reply, fields: Sequence[AnswerField]) -> Reading:
    """The same with the probabilities of the values, where a reply to one question has them."""
    if not reply.logprobs or len(fields) != 1:
        return reading
    answer = reading.answers[fields[0].key]
    if answer.rung != "native" or not answer.is_scored:
        return reading
    likely = probabilities(fields[0], reply.text, reply.logprobs)
    return Reading({answer.key: replace(answer, probabilities=likely)}, reading.complaint)


def _unscored(fields: Sequence[AnswerField], reason: str, message: str) -> dict[str, FieldAnswer]:
    return {field.key: no_answer(field, reason, message) for field in fields}


def no_answer(field: AnswerField, reason: str, message: str) -> FieldAnswer:
    """The answer of a judge that gave none."""
    return FieldAnswer(key=field.key, rung="unscored", reason=reason, message=message)


def _text(value: JsonValue, longest: int) -> str:
    """What a judge wrote, fit to be kept; anything but a text is none."""
    if not isinstance(value, str):
        return ""
    clean = without_surrogates(value).replace("\0", "\ufffd").strip()
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"


def probabilities(
    field: AnswerField, text: str, tokens: Sequence[TokenChoice]
) -> Mapping[Choice, float]:
    """The probabilities of the field's values, which add up to 1; empty where they are unknown.

    They come from the first token of the value alone, and so only where that token tells the
    values apart. What else could have stood there is left out, and the rest scaled up.
    """
    places = list(_VALUE.finditer(text))
    if not places or "".join(choice.token for choice in tokens) != text:
        return {}
    start = places[-1].end()
    token = _token_at(tokens, start)
    if token is None:
        return {}
    weights: dict[Choice, list[float]] = {}
    for other, logprob in token.logprobs.items():
        value = _value_of(field, other)
        if value is not None:
            weights.setdefault(value, []).append(exp(min(logprob, 0.0)))
    total = fsum(weight for some in weights.values() for weight in some)
    if total <= 0:
        return {}
    return {value: fsum(some) / total for value, some in weights.items()}


def _token_at(tokens: Sequence[TokenChoice], start: int) -> TokenChoice | None:
    """The token that a value begins with: white space and a quote may come before it."""
    begin = 0
    for choice in tokens:
        inside = choice.token[max(0, start - begin) :]
        begin += len(choice.token)
        if inside.strip(_BEFORE_VALUES):
            return choice
    return None


def _value_of(field: AnswerField, token: str) -> Choice | None:
    """The one value that a token begins or is; None where it is none or several."""
    begun = token.strip(_BEFORE_VALUES + ",}")
    if not begun:
        return None
    written = {value: _written(value) for value in offered(field)}
    possible = [value for value, text in written.items() if text.startswith(begun)]
    return possible[0] if len(possible) == 1 else None


def _written(value: Choice) -> str:
    return value if isinstance(value, str) else json.dumps(value)
