"""Every rung of the ladder, and what falls through it."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.scripted_judges import answer, said
from steelyard.judging.ladder import Reading, lowest, probabilities, read_reply
from steelyard.judging.questions_asked import AnswerField
from steelyard.model.judgement import TokenChoice

SCORE = AnswerField(key="score", kind="number", span=(0, 5))
MET = AnswerField(key="met", values=(0, 1), labels={0: "no", 1: "yes"})
LEVEL = AnswerField(key="level", values=("minor", "major"))
PARTS = {"evidence": "a quote", "reasoning": "a thought", "value": 4}
ASKED = json.dumps({"answers": {"score": PARTS}})


def read(text: str, *fields: AnswerField, **more: Any) -> Reading:
    return read_reply(said(text, **more), fields or (SCORE,))


@pytest.mark.parametrize(
    ("text", "rung"),
    [
        (ASKED, "native"),
        (f"```json\n{ASKED}\n```", "stripped"),
        (f"<think>a 3?</think> {ASKED}", "stripped"),
        (ASKED.replace('"', "'"), "repaired"),
        (ASKED[:-1], "repaired"),
        (answer("4"), "coerced"),
        (answer("4/5"), "coerced"),
        (json.dumps({"answers": {"score": {"value": 4}}}), "coerced"),
        (json.dumps({"answers": {"score": 4}}), "coerced"),
        (json.dumps({"score": PARTS}), "coerced"),
        (json.dumps(PARTS), "coerced"),
        ('{"score": 4, "reasoning": "good"}', "coerced"),
        ('{"grade": 4, "rationale": "good", "id": "x"}', "coerced"),
        ('{"rating": "4"}', "coerced"),
        ("4", "coerced"),
        ("```\n4/5\n```", "coerced"),
        ("```json\n{'score': 4}\n```", "coerced"),
    ],
)
def test_an_answer_is_found_on_its_rung(text: str, rung: str) -> None:
    found = read(text)

    assert found.answers["score"].value == 4
    assert found.answers["score"].rung == rung
    assert found.complaint == ""


def test_evidence_and_reasoning_are_kept() -> None:
    found = read(ASKED).answers["score"]

    assert (found.evidence, found.reasoning) == ("a quote", "a thought")


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        ('{"value": 4, "rationale": "why"}', "why"),
        ('{"value": 4, "explanation": "why"}', "why"),
        ('{"value": 4}', ""),
        ('{"value": 4, "reasoning": ["why"]}', ""),
    ],
)
def test_reasoning_has_other_names_too(text: str, reasoning: str) -> None:
    assert read(text).answers["score"].reasoning == reasoning


@pytest.mark.parametrize(
    ("text", "reason", "complaint"),
    [
        (answer(7), "unusable", 'the value under "score" must be an integer from 0 to 5'),
        (answer(None), "unusable", 'the value under "score" must be'),
        ('{"answers": {}}', "unusable", 'no answer under the key "score"'),
        ('{"answers": {"other": 4}}', "unusable", 'no answer under the key "score"'),
        ('{"score": 4, "grade": 3}', "unusable", 'no answer under the key "score"'),
        ('{"value": 4, "verdict": 3}', "unusable", 'no answer under the key "score"'),
        ("[]", "unusable", "must be"),
        ("I would say it is quite good.", "unusable", "must be"),
        ("{x}", "unusable", "not valid JSON"),
        (f"{answer(4)} {answer(5)}", "unusable", "several answers that differ"),
        (ASKED[:30], "truncated", "breaks off"),
        ("<think>well", "truncated", "ends before any answer"),
        ("", "empty", "it was empty"),
        (" \n\t", "empty", "it was empty"),
    ],
)
def test_what_is_on_no_rung_is_unscored_with_its_reason(
    text: str, reason: str, complaint: str
) -> None:
    found = read(text)

    assert found.answers["score"].value is None
    assert found.answers["score"].rung == "unscored"
    assert found.answers["score"].reason == reason
    assert found.answers["score"].message
    assert complaint in found.complaint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I would say it is quite good.", "the reply is not JSON"),
        ("```json\nquite good\n```", "the reply is not JSON"),
        ("<think>well</think> quite good", "the reply is not JSON"),
        ("{x}", "the reply is not valid JSON"),
        (f"{answer(4)} {answer(5)}", "the reply holds several answers that differ"),
        (ASKED[:30], "the reply breaks off before its end"),
        ("<think>well", "the reply ends before any answer"),
        ('{"answers": {}}', "the reply has no answer under 'score'"),
        ('{"other": 4}', "the reply has no answer under 'score'"),
        ('{"score": 4, "grade": 3}', "the reply has several values for 'score': score, grade"),
        (
            '{"answers": {"score": {"value": 4, "verdict": 3}}}',
            "the reply has several values for 'score': value, verdict",
        ),
        (answer(7), "the value under 'score' is none of those asked for"),
        ("7", "the value under 'score' is none of those asked for"),
    ],
)
def test_each_rung_says_why_a_reply_is_unusable(text: str, message: str) -> None:
    assert read(text).answers["score"].message == message


def test_prose_answers_no_question_of_a_group_for_the_same_reason() -> None:
    found = read("Both are good.", SCORE, MET)

    assert {one.message for one in found.answers.values()} == {"the reply is not JSON"}


@pytest.mark.parametrize("text", [answer("cannot_judge"), answer("Cannot judge.")])
def test_a_judge_may_say_that_it_cannot(text: str) -> None:
    found = read(text)

    assert found.answers["score"].reason == "cannot_judge"
    assert found.answers["score"].value is None
    assert found.answers["score"].rung != "unscored"
    assert found.complaint == ""


@pytest.mark.parametrize("more", [{"refusal": "I will not."}, {"finish_reason": "content_filter"}])
def test_a_refusal_is_never_asked_again(more: dict[str, Any]) -> None:
    found = read(ASKED, **more)

    assert found.answers["score"].reason == "refusal"
    assert found.complaint == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ASKED, None),
        (f"```json\n{ASKED}\n```" + "\n" * 50, None),
        (ASKED[:-1], "truncated"),
        ("4", None),
        ("Yes", "truncated"),
        ("", "truncated"),
        (ASKED[:30], "truncated"),
    ],
)
def test_a_reply_that_hit_the_limit_counts_only_when_it_is_whole(
    text: str, reason: str | None
) -> None:
    assert read(text, finish_reason="length").answers["score"].reason == reason


def test_no_words_are_no_refusal() -> None:
    assert read(ASKED, refusal="").answers["score"].value == 4


def test_questions_of_a_group_are_read_one_by_one() -> None:
    text = json.dumps({"answers": {"score": PARTS, "met": {**PARTS, "value": "maybe"}}})

    found = read(text, SCORE, MET, LEVEL)

    assert [one.reason for one in found.answers.values()] == [None, "unusable", "unusable"]
    assert '"met" must be one of 0 (no), 1 (yes)' in found.complaint
    assert 'no answer under the key "level"' in found.complaint
    assert "score" not in found.complaint


@pytest.mark.parametrize(
    "text",
    ['{"score": 4, "met": "yes"}', '{"answers": {"score": 4, "met": true}}', "{score: 4, met: 1}"],
)
def test_a_group_may_be_answered_by_values_alone(text: str) -> None:
    found = read(text, SCORE, MET)

    assert [one.value for one in found.answers.values()] == [4, 1]


def test_a_bare_value_answers_no_group() -> None:
    assert {one.reason for one in read("4", SCORE, MET).answers.values()} == {"unusable"}


def test_what_a_judge_writes_is_fit_to_be_kept() -> None:
    text = answer(4, evidence="\ud800\0" + "e" * 3_000, reasoning="r" * 9_000)

    found = read(text).answers["score"]
    assert found.evidence.startswith("\ufffd\ufffdee")
    assert (len(found.evidence), len(found.reasoning)) == (2_000, 8_000)
    assert found.evidence.endswith("…")


def test_the_lowest_rung_is_the_furthest_down() -> None:
    assert lowest(("native", "repaired", "stripped")) == "repaired"


def _tokens(text: str, at: str, logprobs: dict[str, float]) -> tuple[TokenChoice, ...]:
    before, _, after = text.rpartition(at)
    return (TokenChoice(before, {}), TokenChoice(at, logprobs), TokenChoice(after, {}))


def test_probabilities_come_with_a_native_answer_to_one_question() -> None:
    tokens = _tokens(ASKED, "4", {"4": -0.5, "5": -1.0})

    assert set(read(ASKED, logprobs=tokens).answers["score"].probabilities) == {4, 5}
    assert read(f" {ASKED}!", logprobs=tokens).answers["score"].probabilities == {}
    assert read(answer(9), logprobs=tokens).answers["score"].probabilities == {}
    assert read(ASKED, SCORE, MET, logprobs=tokens).answers["score"].probabilities == {}


@given(st.text() | st.text(st.sampled_from('{}[]":,\\ \n015scorevalue`<>/')))
def test_no_reply_breaks_it_or_scores_off_the_scale(text: str) -> None:
    value = read(text).answers["score"].value

    assert value is None or value in range(6)


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
