"""How an answer to each type of question is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from steelyard.contracts.question_rubric.scales import whole_number
from steelyard.formats.encoding import Flaw, flaws
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonValue, Path
from steelyard.model.question import Answer, Option, Question
from steelyard.model.question_types import QuestionType

_SHOWN_OPTIONS = 8
_FLAWS: dict[Flaw, str] = {
    "control": "{} has a forbidden control character",
    "surrogate": "{} has an unpaired surrogate code point",
}

Read: TypeAlias = Callable[[JsonValue, Question, Path, list[Problem]], Answer | None]
"""The answer in its stored form; None when a problem was found."""


def _read_score(
    value: JsonValue, question: Question, path: Path, problems: list[Problem]
) -> int | None:
    """A whole number on the scale."""
    scale = question.answer_scale
    number = whole_number(value)
    if number is None:
        problems.append(_wrong_type("an integer", path))
        return None
    if number not in scale.values:
        # A number of thousands of digits cannot even be printed.
        said = f", not {number}" if abs(number) < 10**12 else ""
        message = f"{{}} must lie on the scale {scale}{said}"
        problems.append(Problem(code="value_out_of_range", message=message, path=path))
        return None
    return number


def _read_yes_no(
    value: JsonValue, _question: Question, path: Path, problems: list[Problem]
) -> int | None:
    """1 or 0."""
    number = whole_number(value)
    if number in {0, 1}:
        return number
    code = "invalid_field_type" if number is None else "value_out_of_range"
    hint = "write 1 for yes and 0 for no"
    problems.append(Problem(code=code, message="{} must be 1 or 0", path=path, hint=hint))
    return None


def _read_option(
    value: JsonValue, question: Question, path: Path, problems: list[Problem]
) -> str | None:
    """The value of one option."""
    if not isinstance(value, str):
        problems.append(_wrong_type("a string", path))
        return None
    known = [option.value for option in question.options]
    if value in known:
        return value
    problems.append(
        Problem(
            code="invalid_enum_value",
            message=f"{{}} must be {_listed(known)}, not {_shown(value)}",
            path=path,
            hint=_meant(value, question.options) or did_you_mean(value, known),
        )
    )
    return None


def _read_several(
    value: JsonValue, question: Question, path: Path, problems: list[Problem]
) -> tuple[str, ...] | None:
    """The values of options, in their order."""
    if not isinstance(value, list):
        problems.append(_wrong_type("an array", path))
        return None
    before = len(problems)
    chosen: set[str] = set()
    for index, item in enumerate(value):
        one = _read_option(item, question, (*path, index), problems)
        if one in chosen:
            message = f"{{}} '{one}' is chosen before"
            problems.append(
                Problem(code="value_out_of_range", message=message, path=(*path, index))
            )
        elif one is not None:
            chosen.add(one)
    if len(problems) > before:
        return None
    # In the order of the options, so that the same choice is the same answer.
    return tuple(option.value for option in question.options if option.value in chosen)


def _read_comment(
    value: JsonValue, _question: Question, path: Path, problems: list[Problem]
) -> str | None:
    """A text without what cannot be shown."""
    if not isinstance(value, str):
        problems.append(_wrong_type("a string", path))
        return None
    found = [_FLAWS[flaw] for _, flaw in flaws(value) if flaw in _FLAWS]
    problems.extend(
        Problem(code="invalid_encoding", message=message, path=path) for message in found
    )
    return None if found else value


def _wrong_type(wanted: str, path: Path) -> Problem:
    return Problem(code="invalid_field_type", message=f"{{}} must be {wanted}", path=path)


def _meant(value: str, options: Iterable[Option]) -> str | None:
    """The hint for a label that stands where the option's value belongs."""
    for option in options:
        if option.label.casefold() == value.casefold():
            return f"write the option's value '{option.value}'"
    return None


def _listed(values: list[str]) -> str:
    shown = values[:_SHOWN_OPTIONS]
    if len(values) > _SHOWN_OPTIONS:
        shown.append(f"{len(values) - _SHOWN_OPTIONS} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _shown(value: str) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


ANSWER_READERS: Mapping[QuestionType, Read] = {
    "score": _read_score,
    "single_select": _read_option,
    "multi_select": _read_several,
    "yes_no": _read_yes_no,
    "button_group": _read_option,
    "comment": _read_comment,
}
