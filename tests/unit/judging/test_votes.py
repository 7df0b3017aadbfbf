"""What several samples say together."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.scripted_judges import a_judge
from steelyard.judging.questions_asked import Answered, AnswerField, AskedQuestion, FieldAnswer
from steelyard.judging.votes import voted

YES_NO = AnswerField(key="q", values=(0, 1))
SCALE = AnswerField(key="q", kind="number", span=(0, 5))
TAGS = AnswerField(key="q", kind="many", values=("a", "b"))


def reply(value: Any, sample: int) -> Answered:
    asked = AskedQuestion(judge=a_judge(), fields=(YES_NO,), sample=sample)
    return Answered(
        asked=asked, answers={"q": FieldAnswer(key="q", value=value)}, rung="native", seed=0
    )


@pytest.mark.parametrize(
    ("field", "values", "chosen"),
    [
        (YES_NO, [1], 0),
        (YES_NO, [0, 1, 1], 1),
        (YES_NO, [None, 0], 1),
        # of a scale the lower median, which somebody gave
        (SCALE, [5, 1, 3, 2], 3),
        (SCALE, [5, 5, 0], 0),
        (TAGS, [("a",), ("a", "b"), ("a", "b")], 1),
        # too few, or none: the first that says nothing
        (YES_NO, [1, None, None], 1),
        (YES_NO, [None, None], 0),
    ],
)
def test_one_sample_speaks_for_all(field: AnswerField, values: list[Any], chosen: int) -> None:
    replies = [reply(value, sample) for sample, value in enumerate(values)]
    votes = voted(field, replies)

    assert (votes.reply, votes.is_split) == (replies[chosen], False)


def test_samples_that_are_split_say_nothing() -> None:
    assert voted(YES_NO, [reply(value, 0) for value in (0, 1)]).is_split
    assert voted(TAGS, [reply(value, 0) for value in ((), ("a",))]).is_split


def test_votes_are_counted() -> None:
    replies = [reply(value, 0) for value in (("a", "b"), (), ("a", "b"), None)]

    assert voted(TAGS, replies).counts == {"a, b": 2, "": 1}
