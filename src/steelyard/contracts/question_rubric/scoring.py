"""How a question rubric says that its answers become a score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.contracts.question_rubric.rules import dimension_key
from steelyard.formats.json_fields import number_field, object_field, optional_number, text_field
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.question import QuestionScoring
from steelyard.model.question_types import QUESTION_TYPES

_VALUED = [one.name for one in QUESTION_TYPES.values() if one.has_value]
_ONE_OPTION = [one.name for one in QUESTION_TYPES.values() if one.has_one_option]


def read_scoring(value: JsonValue) -> QuestionScoring | None:
    """The scoring that a sound rubric states."""
    if not isinstance(value, dict):
        return None
    options = object_field(value, "options")
    return QuestionScoring(
        # JSON has numbers of any length.
        questions={key: float(one) for key, one in _numbers(value, "questions").items()},
        options={key: _numbers(options, key) for key in options},
        pass_threshold=optional_number(value, "pass_threshold"),
    )


def _numbers(row: JsonObject, name: str) -> dict[str, float]:
    members = object_field(row, name)
    return {key: number_field(members, key) for key in members}


def scoring_problems(value: JsonValue) -> Iterator[Problem]:
    """What is wrong with a scoring beyond its form: whatever it names must be there."""
    if not isinstance(value, dict) or not isinstance(value.get("scoring"), dict):
        return
    scoring = object_field(value, "scoring")
    asked = _questions(value)
    options = _object(scoring.get("options"))
    for key, worth in options.items():
        yield from _worth(asked, key, worth)
    for key, weight in _object(scoring.get("questions")).items():
        yield from _counted(asked, key, weight, has_worth=key in options)


def _counted(
    asked: dict[str, JsonObject], key: str, weight: JsonValue, *, has_worth: bool
) -> Iterator[Problem]:
    path: Path = ("scoring", "questions", key)
    if key not in asked:
        yield _unknown(path, key, asked)
        return
    if weight == 0 and not isinstance(weight, bool):
        hint = "leave the question out"
        message = "{} must not be 0, which counts nothing"
        yield Problem(code="value_out_of_range", message=message, path=path, hint=hint)
    kind = asked[key].get("type", "score")
    if kind in _ONE_OPTION and not has_worth:
        hint = "say what each of its options is worth, from 0 to 1"
        place = ("scoring", "options", key)
        yield Problem(code="missing_required_field", message="missing {}", path=place, hint=hint)
    elif kind not in (*_VALUED, *_ONE_OPTION):
        yield _no_value(path, kind)


def _worth(asked: dict[str, JsonObject], key: str, worth: JsonValue) -> Iterator[Problem]:
    path: Path = ("scoring", "options", key)
    if key not in asked:
        yield _unknown(path, key, asked)
        return
    kind = asked[key].get("type", "score")
    if kind not in _ONE_OPTION:
        message = f"{{}} names a question of type {kind}, which is not answered with one option"
        yield Problem(code="unsupported_field", message=message, path=path)
        return
    known = _option_values(asked[key])
    given = _object(worth)
    for name in given:
        if name not in known:
            yield _unknown((*path, name), name, known, "option of this question")
    for name in known:
        if name not in given and isinstance(worth, dict):
            place = (*path, name)
            yield Problem(code="missing_required_field", message="missing {}", path=place)


def _questions(row: JsonObject) -> dict[str, JsonObject]:
    """The questions by key; dimensions are score questions."""
    rows = row.get("questions", row.get("dimensions"))
    found: dict[str, JsonObject] = {}
    for number, one in enumerate(rows if isinstance(rows, list) else [], start=1):
        if isinstance(one, dict) and isinstance(one.get("key"), str):
            found[text_field(one, "key")] = one
        elif isinstance(one, str):
            found[dimension_key(one, number)] = {}
    return found


def _option_values(question: JsonObject) -> list[str]:
    options = question.get("options")
    rows = [_object(option) for option in options] if isinstance(options, list) else []
    return [value for row in rows if isinstance(value := row.get("value"), str)]


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _unknown(
    path: Path, name: str, known: Iterable[str], noun: str = "question of this rubric"
) -> Problem:
    return Problem(
        code="unsupported_field",
        message=f"{{}} is no {noun}",
        path=path,
        hint=did_you_mean(name, known) or f"there are {', '.join(known)}",
    )


def _no_value(path: Path, kind: JsonValue) -> Problem:
    message = f"{{}} names a question of type {kind}, whose answers have no value"
    *others, last = (*_VALUED, *_ONE_OPTION)
    hint = f"{', '.join(others)} and {last} can count"
    return Problem(code="unsupported_field", message=message, path=path, hint=hint)
