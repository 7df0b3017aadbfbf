"""What a good answer to a case would be, as `predictions.jsonl` keeps it."""

from __future__ import annotations

from steelyard.contracts.message_rows import message_row
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue


def expected_row(case: Case) -> JsonObject | None:
    """What the case says of it, by kind; None where it says nothing."""
    row: JsonObject = {}
    if answers := case.answers:
        row["answers"] = list(answers)
    if case.expected_outcome:
        row["outcome"] = case.expected_outcome
    if case.correct_choice_ids:
        row["choices"] = list(case.correct_choice_ids)
    if _says_more(case):
        row["messages"] = [message_row(message) for message in case.expected_messages]
    if case.criteria or case.rubrics:
        row["criteria"] = _statements(case)
    if case.expected:
        row["demands"] = dict(case.expected)
    return row or None


def _says_more(case: Case) -> bool:
    """Whether the expected messages hold what the text of the last one does not tell."""
    said = case.expected_messages
    if not said or (len(said) == 1 and isinstance(said[0].content, str)):
        return bool(said and said[0].tool_calls)
    return True


def _statements(case: Case) -> list[JsonValue]:
    """The criteria and statements that the case brings, with the points of each."""
    criteria: list[JsonValue] = [
        {"id": one.id, "text": one.description or one.title, "weight": one.weight}
        for one in case.criteria
    ]
    statements: list[JsonValue] = [
        {"id": one.id, "text": one.description, "weight": one.weight} for one in case.rubrics
    ]
    return [*criteria, *statements]
