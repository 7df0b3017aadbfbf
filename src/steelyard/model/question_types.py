"""The types of questions: what each needs, and what its answers are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct

QuestionType: TypeAlias = Literal[
    "score", "single_select", "multi_select", "yes_no", "button_group", "comment"
]


class TypeOfQuestion(FrozenStruct, frozen=True, kw_only=True):
    """One type; how its answers are read, judged and compared is said by one table each.

    The tables are `contracts.question_rubric.answer_forms`, `judging.question_types` and
    `review.question_types`.
    """

    name: QuestionType
    needs: Literal["scale", "options"] | None = None
    """The field without which it cannot be answered."""
    has_value: bool = False
    """Whether an answer has a value of its own, from 0 to 1."""
    has_one_option: bool = False
    """Whether an answer is one option, which a rubric can say the worth of."""
    is_rate: bool = False
    """Whether the mean of its answers, 1 and 0, is a rate."""
    words: tuple[str, ...] = ()
    """What the answers 0, 1, … are called."""
    is_free_text: bool = False
    """Whether no judge is asked, and answers are not compared."""


QUESTION_TYPES: Mapping[str, TypeOfQuestion] = {
    one.name: one
    for one in (
        TypeOfQuestion(name="score", needs="scale", has_value=True),
        TypeOfQuestion(name="single_select", needs="options", has_one_option=True),
        TypeOfQuestion(name="multi_select", needs="options"),
        TypeOfQuestion(name="yes_no", has_value=True, is_rate=True, words=("no", "yes")),
        TypeOfQuestion(name="button_group", needs="options", has_one_option=True),
        TypeOfQuestion(name="comment", is_free_text=True),
    )
}
