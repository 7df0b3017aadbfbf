"""The head of a pairwise run: who wins in words, with the interval of the win rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from fakes.predictions import SCORED, prediction
from steelyard.model.statistics.preference import Pick, Winner
from steelyard.reports.comparison.pairwise_text import ComparedResponses, PairwiseView
from steelyard.reports.html.pages import environment
from steelyard.reports.run.pairwise_summary import PairwiseSummary, pairwise_summary
from steelyard.reports.verdict_words import winner_word
from steelyard.stats.position import position_bias
from steelyard.stats.preference import preference

FIRST: tuple[Pick, Pick] = ("first", "first")
TURNED: tuple[Pick, Pick] = ("second", "first")


def summary(winners: Sequence[Winner], picks: Sequence[tuple[Pick, Pick]] = ()) -> PairwiseSummary:
    view = PairwiseView(
        run_id="run_03",
        folder="runs/run_03",
        status="completed",
        dataset="desk",
        a=ComparedResponses("run_01", "desk × <one>"),
        b=ComparedResponses("run_02", "desk × two"),
        judges=({"judge": "judge/better@1.0.0", "target": "judge"},),
        records=len(winners) + 1,
        rows=len(winners) + 1,
        unscored=1,
        identical=0,
        left_out={},
        preference=preference(list(winners)),
        position=position_bias(list(picks), list(range(len(picks)))),
    )
    return pairwise_summary(view)


def test_the_preference_is_said_in_counts() -> None:
    winners = cast(list[Winner], ["b"] * 14 + ["a"] * 2 + ["tie", "contradiction"])
    found = summary(winners)

    assert found.verdict == "Judge prefers B"
    assert found.say.startswith("Of 18 decided records, the judge prefers B in 14 and A in 2.")
    assert found.rates[0].name == "Win rate of B"
    assert [share.label for share in found.shares] == ["B 14", "neither 2", "A 2"]
    assert dict(found.winners)["The judge contradicts itself"] == 1
    assert found.facts[0].text == "19 = 18 decided + 1 unscored"


def test_without_a_decision_there_is_no_rate() -> None:
    found = summary([])

    assert found.say == "No record has a decision, so the answers cannot be compared."
    assert found.rates == ()


def test_a_judge_that_decides_by_place_is_noticed() -> None:
    winners: list[Winner] = ["contradiction"] * 30
    found = summary(winners, [FIRST] * 30)

    assert [one.text.partition(".")[0] for one in found.notices] == [
        "The judge favours the first place"
    ]
    assert [row.name for row in found.rates][1:] == [
        "First place preferred",
        "Decision flips with the order",
    ]


def test_the_part_escapes_titles_and_links_runs() -> None:
    def link(run_id: str) -> str:
        return f"/runs/{run_id}"

    source = '{% from "parts/run.html" import pairwise_headline %}{{ pairwise_headline(s, link) }}'
    html = environment().from_string(source).render(s=summary(["b"], [TURNED]), link=link)

    assert '<a href="/runs/run_01">desk × &lt;one&gt;</a>' in html


@pytest.mark.parametrize(
    ("winner", "word"),
    [
        ("a", ("fail", "A wins")),
        ("b", ("pass", "B wins")),
        ("tie", ("skipped", "Tie")),
        ("contradiction", ("invalid", "Contradiction")),
        (None, ("fail", "Fail")),
    ],
)
def test_the_verdict_of_a_record_is_who_wins(winner: str | None, word: tuple[str, str]) -> None:
    score = {**SCORED, "check": "pairwise", "details": {"winner": winner}}

    assert winner_word(prediction(passed=False, evaluator_scores=[score])) == word
