"""Labels as a table that can be imported again: what no column can hold stands in one of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from steelyard.formats.csv_line import csv_line, is_formula, plain_cell
from steelyard.formats.json_fields import fields, object_field, text_field
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.sheet import RESERVED, answer_column
from steelyard.model.question import Question, QuestionRubric
from steelyard.review.sheet_cells import answer_cell, column_question
from steelyard.usecases.review.labels import KnownRubrics

MORE = "more_json"
"""The column of what has no column of its own, or no cell that is read as the same value."""
_TEXTS = ("record_id", "run_id", "rubric", "annotator", "exposure", "queue_id", "rubric_sha256")
_NUMBERS = ("repeat", "inclusion_prob")
_FIRST = ("record_id", "run_id", "repeat", "rubric", "annotator", "exposure", "queue_id")
_LAST = ("inclusion_prob", "passed", "rubric_sha256")
_RENAMED = frozenset(("id", "example_id"))


class _Line(NamedTuple):
    """The cells of a row by column; those of answers and further fields apart."""

    own: dict[str, JsonValue]
    answers: dict[str, JsonValue]
    further: dict[str, JsonValue]
    rest: JsonObject


def label_csv(rows: Iterable[JsonObject], rubrics: KnownRubrics) -> Iterator[str]:
    """A table of labels, with a column for each question that was answered."""
    lines = [_line(row, rubrics.questions(text_field(row, "rubric"))) for row in rows]
    answered = dict.fromkeys(name for line in lines for name in line.answers)
    further = dict.fromkeys(name for line in lines for name in line.further)
    columns = dict.fromkeys((*_FIRST, *answered, *_LAST, *further))
    yield csv_line((*columns, MORE))
    for line in lines:
        cells = {**line.own, **line.answers, **line.further}
        rest = json.dumps(line.rest, ensure_ascii=False) if line.rest else ""
        yield csv_line((*(cells.get(name, "") for name in columns), rest))


def _line(row: JsonObject, rubric: QuestionRubric | None) -> _Line:
    answers, left = _answer_cells(object_field(row, "answers"), rubric)
    line = _Line({}, answers, {}, {})
    for name, value in row.items():
        if name == "passed":
            line.own[name] = "yes" if value else "no"
        elif name in _NUMBERS or (name in _TEXTS and _is_kept(value)):
            line.own[name] = value
        elif name not in RESERVED and _is_further(name, value, rubric):
            line.further[name] = value
        elif name != "answers":
            line.rest[name] = value
    if left:
        line.rest["answers"] = left
    return line


def _answer_cells(
    answers: JsonObject, rubric: QuestionRubric | None
) -> tuple[dict[str, JsonValue], JsonObject]:
    """The cells of answers by column, and the answers that no cell can hold."""
    trace = rubric.asked("trace") if rubric else {}
    turn = rubric.asked("turn") if rubric else {}
    cells, rest = _sheet(object_field(answers, "trace"), trace)
    found = {answer_column(key): cell for key, cell in cells.items()}
    left: JsonObject = {"trace": rest} if rest else {}
    turns: JsonObject = {}
    for name, given in object_field(answers, "turns").items():
        cells, rest = _sheet(fields(given), turn)
        found |= {f"{name}.{key}": cell for key, cell in cells.items()}
        if rest:
            turns[name] = rest
    return found, {**left, "turns": turns} if turns else left


def _sheet(
    given: JsonObject, asked: Mapping[str, Question]
) -> tuple[dict[str, JsonValue], JsonObject]:
    cells: dict[str, JsonValue] = {}
    rest: JsonObject = {}
    for key, value in given.items():
        cell = answer_cell(value, asked[key]) if key in asked else None
        if cell is not None and plain_cell(cell) == cell:
            cells[key] = cell
        else:
            rest[key] = value
    return cells, rest


def _is_further(name: str, value: JsonValue, rubric: QuestionRubric | None) -> bool:
    """Whether a field beyond those of labels is read again from a column of its name."""
    is_asked = rubric is not None and column_question(name, rubric) is not None
    is_name = _is_kept(name) and name not in _RENAMED and not is_formula(name)
    return is_name and not is_asked and isinstance(value, str) and _is_plain(value)


def _is_kept(value: JsonValue) -> bool:
    """Whether a text is read as it is, also where blanks around it are dropped."""
    return isinstance(value, str) and value == value.strip() and _is_plain(value)


def _is_plain(text: str) -> bool:
    return bool(text.strip()) and plain_cell(text) == text
