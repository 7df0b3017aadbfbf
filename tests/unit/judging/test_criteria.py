"""Points for criteria that a judge finds met."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.judge_replies import TIMEOUT, by_item, by_key, deciding, shown
from fakes.scripted_judges import ScriptedAsker
from steelyard.judging.criteria import Criteria, stated_criteria
from steelyard.model.case import Case, Criterion
from steelyard.model.judge import Judge
from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

CASE = Case(id="q1", input_messages=(Message(role="user", content="May the landlord enter?"),))
TRACE = Trace(messages=(Message(role="assistant", content="Only with notice, says section 11."),))
JUDGE = Judge(
    id="criterion", version="1.0.0", template="{{ output }} {{ question }} {{ criteria }}"
)
LISTED = Judge(id="criteria", version="1.0.0", template="{{ output }}")
CRITERIA = (
    Criterion(id="notice", title="Says that notice is needed", description="A day.", weight=8),
    Criterion(id="source", title="Names its source", weight=4),
    Criterion(id="wrong", title="Says that he may enter at night", weight=-5),
)


def judged(asker: ScriptedAsker, **settings: Any) -> Outcome:
    known: dict[str, Any] = {"criteria": CRITERIA, "judge": JUDGE, **settings}
    return asyncio.run(Criteria(**known).ask(TRACE, CASE, asker))


def items(outcome: Outcome) -> list[dict[str, Any]]:
    rows: Any = outcome.details["items"]
    return rows


@pytest.mark.parametrize(
    ("said", "raw", "passed"),
    [
        ({"notice": 1, "source": 1, "wrong": 0}, 1.0, True),
        ({"notice": 1, "source": 0, "wrong": 0}, 8 / 12, False),
        ({"notice": 0, "source": 0, "wrong": 1}, -5 / 12, False),
        ({"notice": 0, "source": 0, "wrong": 0}, 0.0, False),
    ],
)
def test_points_over_the_maximum_are_the_score(
    said: dict[str, Any], raw: float, passed: bool
) -> None:
    found = judged(by_item(said))

    assert found.raw_score == pytest.approx(raw)
    assert found.score == pytest.approx(max(0.0, raw))
    assert found.passed is passed
    assert (found.status, found.judge) == ("scored", "judge/criterion@1.0.0")


@pytest.mark.parametrize(("threshold", "passed"), [(8 / 12, True), (0.67, False)])
def test_the_threshold_passes_itself(threshold: float, passed: bool) -> None:
    found = judged(by_item({"notice": 1, "source": 0, "wrong": 0}), threshold=threshold)

    assert found.passed is passed


def test_the_details_have_three_figures_and_every_ruling() -> None:
    found = judged(by_item({"notice": 1, "source": 0, "wrong": 1}))

    assert {name: found.details[name] for name in ("points", "maximum", "met", "scored")} == {
        "points": 3,
        "maximum": 12,
        "met": 2,
        "scored": 3,
    }
    assert found.details["points_over_maximum"] == 0.25
    assert found.details["min_max"] == pytest.approx(8 / 17)
    assert found.details["share_met"] == pytest.approx(2 / 3)
    assert [(row["item"], row["value"], row["weight"]) for row in items(found)] == [
        ("notice", 1, 8),
        ("source", 0, 4),
        ("wrong", 1, -5),
    ]
    first = items(found)[0]
    assert first["reasoning"] == "because of met"
    assert (first["target"], first["rung"], len(first["fingerprint"])) == (
        "scripted",
        "native",
        64,
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"notice": 1, "source": 1, "wrong": 0}, "met 2 of 3 criteria, 12 of 12 points"),
        (
            {"notice": 1, "source": 0, "wrong": 1},
            (
                'met 2 of 3 criteria, 3 of 12 points; not met: "Names its source"; '
                'there, and costing points: "Says that he may enter at night"'
            ),
        ),
        (
            {"notice": 1, "source": TIMEOUT},
            "met 1 of 1 criteria, 8 of 8 points; 2 of 3 not judged: timeout (1), cannot_judge (1)",
        ),
    ],
)
def test_the_reason_says_what_was_met(said: dict[str, Any], reason: str) -> None:
    assert judged(by_item(said)).reason == reason


def test_a_long_reason_is_cut() -> None:
    many = tuple(Criterion(id=str(number), title="long " * 40) for number in range(5))
    found = judged(by_item({str(number): 0 for number in range(5)}), criteria=many)

    assert found.reason.endswith('…", 2 more')
    assert len(found.reason) < 320


def test_a_criterion_that_could_not_be_judged_is_in_no_denominator() -> None:
    found = judged(by_item({"notice": 1, "source": TIMEOUT, "wrong": 0}))

    assert (found.score, found.details["scored"], found.details["total"]) == (1.0, 2, 3)
    assert "value" not in items(found)[1]
    assert (items(found)[1]["reason"], items(found)[1]["rung"]) == ("timeout", "unscored")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({}, "none of 3 criteria could be judged: cannot_judge (3)"),
        (
            {"notice": TIMEOUT, "source": "hm", "wrong": 0},
            (
                "of 3 criteria only 1 could be judged, none of which gives points: timeout (1), "
                "unusable (1)"
            ),
        ),
    ],
)
def test_without_points_to_speak_of_the_check_is_unscored(
    said: dict[str, Any], reason: str
) -> None:
    found = judged(by_item(said))

    assert (found.status, found.score, found.passed) == ("unscored", None, None)
    assert found.reason == reason
    assert len(items(found)) == 3


def test_each_criterion_has_a_call_of_its_own_that_does_not_tell_its_weight() -> None:
    asker = by_item({"notice": 1, "source": 1, "wrong": 0})
    judged(asker)

    assert [call.item for call in asker.calls] == ["notice", "source", "wrong"]
    assert "Says that notice is needed A day." in shown(asker.calls[0])
    assert "Names its source" not in shown(asker.calls[0])
    for call in asker.calls:
        assert not {"8", "-5"} & set(shown(call).replace(".", " ").split())


def test_good_and_bad_criteria_are_asked_alike() -> None:
    good, bad = (Criterion(id="a", title="The same", weight=weight) for weight in (1, -1))
    asked = [by_item({"a": 1}), by_item({"a": 1})]
    judged(asked[0], criteria=(good,))
    judged(asked[1], criteria=(bad,))

    assert asked[0].calls == asked[1].calls


def test_a_grouped_call_asks_about_all_criteria() -> None:
    asker = by_key({"criterion_1": 1, "criterion_2": "cannot_judge", "criterion_3": 0})
    found = judged(asker, judge=LISTED, is_grouped=True)

    (call,) = asker.calls
    assert call.item is None
    for criterion in CRITERIA:
        assert criterion.title in shown(call)
    assert [row.get("value") for row in items(found)] == [1, None, 0]
    assert [row["item"] for row in items(found)] == ["notice", "source", "wrong"]
    assert found.score == 1.0


def test_a_grouped_call_of_a_judge_for_one_criterion_lists_them_by_their_keys() -> None:
    asker = by_key({"criterion_1": 1})
    judged(asker, is_grouped=True)

    assert "criterion_2: Names its source" in shown(asker.calls[0])


def test_a_grouped_call_that_fails_leaves_nothing() -> None:
    found = judged(by_key({"criterion_1": TIMEOUT}), judge=LISTED, is_grouped=True)

    assert found.reason == "none of 3 criteria could be judged: timeout (3)"


def test_shares_count_where_the_benchmark_counts_them() -> None:
    said = {"notice": 1, "source": 0, "wrong": 0}

    assert judged(by_item(said), aggregation="share_met").raw_score == pytest.approx(2 / 3)


def test_samples_vote() -> None:
    def vote(call: Any, _key: str) -> int:
        return int(call.item == "notice" or (call.item == "source" and call.sample == 2))

    asker = deciding(vote)
    found = judged(asker, samples=3)

    assert [call.sample for call in asker.calls] == [0, 1, 2] * 3
    assert [row["value"] for row in items(found)] == [1, 0, 0]
    assert items(found)[1]["votes"] == {"0": 2, "1": 1}


def test_the_target_of_the_judge_is_passed_on() -> None:
    asker = by_item({})
    judged(asker, target="cheap")

    assert {call.target for call in asker.calls} == {"cheap"}


def test_a_case_without_criteria_is_skipped() -> None:
    found = judged(by_item({}), criteria=())

    assert (found.status, found.reason) == ("skipped", "there are no criteria")


def test_texts_are_criteria_of_equal_weight() -> None:
    assert stated_criteria(["Is short.", "Is right."]) == (
        Criterion(id="criterion-1", title="Is short."),
        Criterion(id="criterion-2", title="Is right."),
    )
