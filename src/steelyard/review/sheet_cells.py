"""Cells of a spreadsheet as answers: what people write, in the values that are stored.

A cell that cannot be read stays text, so that the check of answers says what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.sheet import answer_column
from steelyard.model.question import Question, QuestionRubric

_YES = frozenset(
    (
        *("yes", "y", "true", "1", "1.0", "x", "✓"),
        *("wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "vero", "sì", "waar"),
        *("verdadeiro", "sim", "prawda", "tak"),
    )
)
_NO = frozenset(
    (
        *("no", "n", "false", "0", "0.0"),
        *("falsch", "nein", "faux", "non", "falso", "onwaar", "nee", "não", "fałsz", "nie"),
    )
)
"""As people write them, and as spreadsheets in several languages do."""
_PASSED = {**dict.fromkeys(_YES | {"pass", "passed", "good"}, True)} | dict.fromkeys(
    _NO | {"fail", "failed", "bad"}, False
)
_WHOLE = re.compile(r"([+-]?\d+)(?:[.,]0+)?")
_TURN = re.compile(r"turn_(\d{1,9})\.(\w+)")
NO_OPTION = "[]"
"""Says that none of the options of a question with several holds."""
_BETWEEN = re.compile(r"[;,|\n]")


def passed_value(cell: str) -> bool | str:
    """Whether a response passes."""
    return _PASSED.get(_folded(cell), cell)


def column_question(column: str, rubric: QuestionRubric) -> tuple[str, Question] | None:
    """The question whose answers a column holds, with `trace` or its turn; None if none."""
    trace = rubric.asked("trace")
    for key in (column, column.removeprefix("trace.")):
        if key in trace and column in {answer_column(key), f"trace.{key}"}:
            return "trace", trace[key]
    found = _TURN.fullmatch(column)
    question = rubric.asked("turn").get(found[2]) if found else None
    return (f"turn_{int(found[1])}", question) if found and question else None


def answer_cell(value: JsonValue, question: Question) -> str | None:
    """The cell that is read as this answer; None if there is none."""
    if isinstance(value, list):
        cell = ";".join(str(one) for one in value) or NO_OPTION
    elif question.type == "yes_no":
        cell = "yes" if value else "no"
    else:
        cell = str(value)
    return cell if cell.strip() and _answer(cell, question) == value else None


def cell_answers(cells: Mapping[str, str], rubric: QuestionRubric) -> JsonObject:
    """The answers of a row, in the shape of the contract; empty cells are no answers."""
    trace: JsonObject = {}
    turns: dict[str, JsonObject] = {}
    for column, cell in cells.items():
        asked = column_question(column, rubric)
        if asked is None or not cell.strip():
            continue
        place, question = asked
        sheet = trace if place == "trace" else turns.setdefault(place, {})
        sheet[question.key] = _answer(cell, question)
    return {"trace": trace, "turns": dict(turns)} if turns else {"trace": trace}


def _answer(cell: str, question: Question) -> JsonValue:
    text = cell.strip()
    if question.type == "yes_no":
        folded = _folded(text)
        return 1 if folded in _YES else 0 if folded in _NO else text
    if question.type == "score":
        whole = _WHOLE.fullmatch(text)
        return int(whole[1]) if whole else text
    if question.type == "comment":
        return cell
    if question.type == "multi_select":
        return _chosen(text, question)
    return _option(text, question)


def _chosen(text: str, question: Question) -> JsonValue:
    """The options that a cell names, apart from each other by semicolon, comma, bar or line."""
    if _is_option(text, question):
        return [_option(text, question)]
    if text == NO_OPTION:
        return []
    parts = [part.strip() for part in _BETWEEN.split(text)]
    chosen: list[JsonValue] = [_option(part, question) for part in parts if part]
    return chosen


def _option(text: str, question: Question) -> str:
    """The value of an option by its value or by its label."""
    values = {_folded(option.value): option.value for option in question.options}
    labels = {_folded(option.label): option.value for option in question.options}
    return values.get(_folded(text)) or labels.get(_folded(text)) or text


def _is_option(text: str, question: Question) -> bool:
    folded = _folded(text)
    return any(folded in {_folded(one.value), _folded(one.label)} for one in question.options)


def _folded(text: str) -> str:
    return text.strip().casefold()
