"""Canaries reach a judge as any other answer does."""

from __future__ import annotations

import pytest

from fakes.scripted_judges import a_judge, answer, asker_saying, judged
from steelyard.judging.canaries import CANARIES, Canary, canary_trace, truncated
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.case import Case


def test_every_canary_of_the_list_is_there_once() -> None:
    names = [canary.id for canary in CANARIES]

    assert len(set(names)) == len(names)
    assert {"empty", "full_stop", "order", "padded_list", "fake_end", "template"} <= set(names)
    assert {canary.text for canary in CANARIES} >= {"", ".", ":"}
    assert all(canary.why for canary in CANARIES)


def test_one_of_them_is_a_megabyte() -> None:
    longest = max(CANARIES, key=lambda canary: len(canary.text))

    assert 1_000_000 < len(longest.text) < 1_100_000


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.id)
def test_none_of_them_changes_what_a_judge_is_asked(canary: Canary) -> None:
    asker = asker_saying(answer(0))

    judged(LlmJudge(judge=a_judge("{{ output }}")), asker, canary.text)

    (call,) = asker.calls
    begin, end = f"[[material {call.nonce}]]\n", f"\n[[end of material {call.nonce}]]"
    before, _, rest = call.messages[1][1].partition(begin)
    _, _, after = rest.rpartition(end)
    assert before == ""
    assert after.startswith('\n\nAnswer under the key "score"')
    assert rest.count(end) == 1


def test_a_canary_is_the_response_of_a_trace() -> None:
    assert [canary_trace(one).response for one in CANARIES] == [one.text for one in CANARIES]


@pytest.mark.parametrize(("length", "is_there"), [(80, False), (81, True)])
def test_a_long_expected_answer_is_broken_off(length: int, is_there: bool) -> None:
    case = Case(id="q", reference_answers=("short", "x" * length))

    canary = truncated(case)

    assert (canary is not None) is is_there
    if canary:
        assert canary.text == "x" * 40
