"""Responses for people to label in a spreadsheet or on paper."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.question import QuestionRubric

RESERVED = frozenset(
    (
        *("record_id", "run_id", "repeat", "rubric", "annotator", "exposure"),
        *("queue_id", "inclusion_prob", "passed", "rubric_sha256", "question", "answer"),
        "more_json",
    )
)
"""Columns with a meaning of their own; a question of that key has the prefix `trace.`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """One response for one person."""

    record_id: str
    repeat: int
    annotator: str
    question: str
    answer: str
    turns: int
    """Turns of the trace that are asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSheet:
    """The responses of a sample, without anything that a judge or another person said."""

    run_id: str
    rubric: str
    questions: QuestionRubric | None
    """None where people say pass or fail."""
    rows: tuple[SheetRow, ...]

    @property
    def answer_columns(self) -> tuple[str, ...]:
        """The names of the columns that people fill in."""
        if self.questions is None:
            return ("passed",)
        turns = range(1, max((row.turns for row in self.rows), default=0) + 1)
        return (
            *(answer_column(key) for key in self.questions.asked("trace")),
            *(f"turn_{turn}.{key}" for turn in turns for key in self.questions.asked("turn")),
        )


def answer_column(key: str) -> str:
    """The column of a question about the whole trace."""
    return f"trace.{key}" if key in RESERVED else key
