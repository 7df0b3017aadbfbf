"""A judge that compares two answers: both orders, who wins, and when there is no score."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.scripted_judges import ScriptedAsker, a_case, a_judge, answer, said
from steelyard.errors import TargetError
from steelyard.judging.answer_schema import answer_schema, values_shown
from steelyard.judging.instrument import asked_by, rule_of
from steelyard.judging.pairwise import OTHER_OUTPUT, Pairwise
from steelyard.model.judgement import JudgeCall
from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import RubricCheck
from steelyard.model.trace import Trace

TEMPLATE = "{{ input }} {{ expected }} {{ question }}|{{ output_a }}|{{ output_b }}"
JUDGE = a_judge(TEMPLATE)
MINE, OTHER = "Paris, says B", "Lyon, says A"


def compared(asker: ScriptedAsker, mine: str = MINE, other: str = OTHER, **more: Any) -> Outcome:
    trace = Trace(messages=(Message(role="assistant", content=mine),), extra={OTHER_OUTPUT: other})
    return asyncio.run(Pairwise(judge=JUDGE, **more).ask(trace, a_case(), asker))


def saying(ab: str, ba: str) -> ScriptedAsker:
    """A judge with one answer for each order."""
    values = {"ab": ab, "ba": ba}

    def script(call: JudgeCall) -> str:
        value = values[call.item or ""]
        return value if value == "?" else answer(value, key="preference", reasoning="Because.")

    return ScriptedAsker(script)


@pytest.mark.parametrize(
    ("ab", "ba", "score", "wins"),
    [
        ("b", "a", 1.0, "b"),
        ("a", "b", 0.0, "a"),
        ("tie", "tie", 0.5, "tie"),
        ("b", "tie", 0.5, "tie"),
        ("a", "a", 0.5, "contradiction"),
        ("b", "b", 0.5, "contradiction"),
    ],
)
def test_the_score_is_the_share_of_b(ab: str, ba: str, score: float, wins: str) -> None:
    found = compared(saying(ab, ba))

    assert (found.score, found.passed) == (score, wins == "b")
    assert found.details["winner"] == wins


def test_the_picks_of_both_orders_are_kept_with_the_calls() -> None:
    found = compared(saying("b", "tie"))
    calls: Any = found.details["calls"]

    assert found.details["picks"] == {"ab": "second", "ba": "tie"}
    assert [(call["item"], call["value"]) for call in calls] == [("ab", "b"), ("ba", "tie")]
    assert calls[0]["fingerprint"] == calls[1]["fingerprint"]
    assert found.reason == "a tie: Because."


def test_each_answer_is_shown_in_both_places_and_between_delimiters() -> None:
    asker = saying("a", "b")
    compared(asker)
    ab, ba = (dict(call.messages)["user"].split("|") for call in asker.calls)

    assert OTHER in ab[1]
    assert MINE in ab[2]
    assert MINE in ba[1]
    assert OTHER in ba[2]
    assert ab[1].startswith("[[material ")
    assert "capital of France" in ab[0]
    assert "Paris" in ab[0]


def test_options_are_offered_in_the_same_words_in_both_orders() -> None:
    asker = saying("a", "b")
    compared(asker)
    offered = {dict(call.messages)["user"].splitlines()[-1] for call in asker.calls}
    schema: Any = asker.calls[0].schema
    (question,) = schema["properties"]["answers"]["properties"].values()

    assert len(offered) == 1
    assert '"a" (answer A is better), "b" (answer B is better), "tie"' in offered.pop()
    assert list(question["properties"]) == ["evidence", "reasoning", "value"]
    assert question["properties"]["value"]["enum"] == ["a", "b", "tie", "cannot_judge"]


def test_both_orders_are_one_instrument() -> None:
    (asked,) = asked_by(Pairwise(judge=JUDGE))
    asker = saying("a", "b")
    compared(asker)

    assert {call.identity for call in asker.calls} == {asked.identity}
    assert rule_of(RubricCheck(id="p", check=Pairwise(judge=JUDGE))) == "pairwise at 1"


@pytest.mark.parametrize(
    ("ab", "ba", "reason"),
    [
        ("a", "cannot_judge", "order ba: cannot_judge: Because."),
        ("?", "b", "order ab: unusable: "),
    ],
)
def test_an_order_without_an_answer_leaves_the_record_unscored(
    ab: str, ba: str, reason: str
) -> None:
    found = compared(saying(ab, ba))

    assert (found.status, found.score, found.passed) == ("unscored", None, None)
    assert found.reason.startswith(reason)
    assert "winner" not in found.details
    assert found.judge == JUDGE.name


def test_a_call_that_fails_leaves_the_record_unscored() -> None:
    def script(call: JudgeCall) -> str | TargetError:
        return (
            TargetError("timeout", "late") if call.item == "ba" else answer("a", key="preference")
        )

    found = compared(ScriptedAsker(script))

    assert (found.status, found.reason) == ("unscored", "order ba: timeout: late")


def test_without_reasoning_the_reason_is_who_wins() -> None:
    def script(call: JudgeCall) -> str:
        return answer("a" if call.item == "ab" else "b", key="preference")

    assert compared(ScriptedAsker(script)).reason == "A is preferred in both orders"


def test_the_same_text_is_a_tie_about_which_nobody_is_asked() -> None:
    asker = saying("a", "b")

    found = compared(asker, mine="Paris", other="Paris")

    assert asker.calls == []
    assert (found.score, found.passed) == (0.5, False)
    assert found.details == {"winner": "tie", "is_identical": True, "calls": []}


def test_evidence_may_come_from_either_answer() -> None:
    def script(call: JudgeCall) -> str:
        quote = OTHER if call.item == "ab" else MINE
        return answer("tie", key="preference", evidence=quote)

    calls: Any = compared(ScriptedAsker(script)).details["calls"]

    assert [call["evidence_found"] for call in calls] == [True, True]


@pytest.mark.parametrize(
    ("samples", "pick"), [(("a", "b", "b"), "second"), (("a", "b"), "tie"), (("a", "a"), "first")]
)
def test_of_several_samples_the_most_frequent_counts_in_each_order(
    samples: tuple[str, ...], pick: str
) -> None:
    def script(call: JudgeCall) -> str:
        return answer(samples[call.sample], key="preference")

    asker = ScriptedAsker(script)
    found = compared(asker, samples=len(samples))

    assert len(asker.calls) == 2 * len(samples)
    assert found.details["picks"] == {"ab": pick, "ba": pick}
    distribution: Any = found.details["distribution"]
    assert distribution["ab"].keys() == set(samples)


def test_refusals_are_not_asked_again() -> None:
    asker = ScriptedAsker(lambda _: said(refusal="no"))

    found = compared(asker)

    assert found.reason.startswith("order ab: refusal")
    assert len(asker.calls) == 2


def test_a_field_in_fixed_order_is_shown_the_same_for_every_seed() -> None:
    (field,) = next(Pairwise(judge=JUDGE).questions()).fields

    assert {values_shown(field, seed) for seed in range(20)} == {values_shown(field)}
    assert answer_schema([field])
