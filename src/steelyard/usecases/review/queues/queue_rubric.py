"""The rubric of a queue, as it was when the queue was made, and answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from steelyard.contracts.question_rubric.answers import read_answers
from steelyard.contracts.question_rubric.reader import read_question_rubric
from steelyard.errors import InvalidError
from steelyard.formats.lines import Lines, Located
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.model.labels.queue import ReviewQueue
from steelyard.model.question import Answers, QuestionRubric
from steelyard.reports.findings import finding_json

_OWED = "missing_required_field"
_SHOWN = 5


def rubric_of(queue: ReviewQueue) -> QuestionRubric:
    """The questions of a queue, whatever became of their file since."""
    content = Located(value=queue.rubric_row, lines=Lines(1))
    found, findings = read_question_rubric(content, queue.rubric_sha256)
    if found is None:
        raise InvalidError(f"the rubric of {queue.queue_id} is unreadable: {findings[0].message}")
    return found


def checked_answers(
    rubric: QuestionRubric, value: JsonValue, turns: int, *, is_complete: bool
) -> Answers:
    """Answers that fit the rubric and the trace; where complete, with all required ones."""
    answers, findings = read_answers(value, rubric, turns=turns)
    wrong = [one for one in findings if is_complete or one.code != _OWED]
    if wrong:
        raise _invalid([replace(one, path=f"answers.{one.path}".rstrip(".")) for one in wrong])
    return answers


def _invalid(findings: Sequence[Finding]) -> InvalidError:
    shown = "; ".join(f"{one.path}: {one.message}" for one in findings[:_SHOWN])
    more = f"; and {len(findings) - _SHOWN} more" if len(findings) > _SHOWN else ""
    error = InvalidError(f"the answers do not fit the rubric: {shown}{more}")
    rows = cast("list[JsonValue]", [finding_json(one) for one in findings])
    error.details = {"findings": rows}
    return error
