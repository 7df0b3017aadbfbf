"""Probabilities of values, where the deciding token tells them apart."""

from __future__ import annotations

from math import log

import pytest

from steelyard.judging.logprobs import probabilities
from steelyard.judging.questions_asked import AnswerField
from steelyard.model.judgement import TokenChoice

SCALE = AnswerField(key="score", kind="number", span=(1, 5))
TEN = AnswerField(key="score", kind="number", span=(0, 10))
LEVELS = AnswerField(key="score", values=("no", "partly", "yes"))


def found(field: AnswerField, said: tuple[TokenChoice, ...]) -> dict[object, float]:
    text = "".join(choice.token for choice in said)
    return {**probabilities(field, text, said)}


def test_they_are_scaled_to_what_could_have_been_answered() -> None:
    said = (
        TokenChoice('{"value": ', {}),
        TokenChoice("4", {"4": log(0.6), "5": log(0.2), " the": log(0.1), '"': log(0.1)}),
        TokenChoice("}", {}),
    )

    assert found(SCALE, said) == pytest.approx({4: 0.75, 5: 0.25})


def test_several_ways_to_write_a_value_are_one() -> None:
    said = (
        TokenChoice('{"value":', {}),
        TokenChoice(" 4", {" 4": log(0.3), "4": log(0.3), "3": log(0.4)}),
        TokenChoice("}", {}),
    )

    assert found(SCALE, said) == pytest.approx({4: 0.6, 3: 0.4})


def test_the_beginning_of_a_word_stands_for_it() -> None:
    said = (
        TokenChoice('{"value": ', {}),
        TokenChoice('"', {'"': 0.0}),
        TokenChoice("par", {"par": log(0.5), "yes": log(0.5)}),
        TokenChoice('tly"}', {}),
    )

    assert found(LEVELS, said) == pytest.approx({"partly": 0.5, "yes": 0.5})


def test_a_token_that_begins_two_values_tells_neither() -> None:
    said = (
        TokenChoice('{"value": ', {}),
        TokenChoice("1", {"1": log(0.5), "2": log(0.5)}),
        TokenChoice("0}", {}),
    )

    assert found(TEN, said) == {2: 1.0}


@pytest.mark.parametrize(
    "said",
    [
        (),
        (TokenChoice('{"score": 4}', {"4": 0.0}),),
        (TokenChoice('{"value": ', {}), TokenChoice("4", {"x": 0.0}), TokenChoice("}", {})),
        (TokenChoice('{"value": ', {}), TokenChoice('"', {})),
        (TokenChoice('{"value": ', {}), TokenChoice("4", {"4": float("-inf")})),
    ],
)
def test_where_nothing_is_known_there_is_nothing(said: tuple[TokenChoice, ...]) -> None:
    assert found(SCALE, said) == {}


def test_tokens_of_another_text_are_not_used() -> None:
    said = (TokenChoice('{"value": ', {}), TokenChoice("4", {"4": 0.0}))

    assert probabilities(SCALE, '{"value": 4}', said) == {}
