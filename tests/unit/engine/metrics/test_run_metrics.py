"""Facts to metrics: denominators, rates, repeats, slices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.model.run import Judging
from steelyard.results.facts import CheckFact, Facts
from steelyard.results.metrics import Summary, slices_json
from steelyard.results.question_facts import QuestionFact
from steelyard.stats.intervals import wilson
from steelyard.stats.rates import mean_interval, rate_interval
from steelyard.stats.summaries import distribution
from strategies.run_facts import checked, facts

STATUSES = (
    *("evaluated", "invalid_record", "timeout", "evaluation_error", "cancelled", "skipped"),
)


def summary(*given: Facts) -> dict[str, Any]:
    return metrics_of(given)[0].json()


def slices(*given: Facts) -> list[dict[str, Any]]:
    return cast(Any, slices_json(metrics_of(given)[1])["slices"])


def repeats(index: int, *passes: bool | None, **others: Any) -> list[Facts]:
    return [
        facts(index, passed=passed, repeat=repeat, **others)
        for repeat, passed in enumerate(passes)
    ]


def test_a_run_without_records_has_no_rate() -> None:
    found = summary()

    assert (found["total_records"], found["rows"]) == (0, 0)
    assert found["pass_rate"] == asdict(wilson(0, 0))
    assert found["pass_rate_bounds"] == {"low": None, "high": None}
    assert found["score_distribution"] == [0] * 10


@pytest.mark.parametrize(
    ("status", "counted"),
    [
        ("evaluated", {"evaluated_records"}),
        ("invalid_record", {"failed_records", "invalid_records"}),
        ("timeout", {"failed_records"}),
        ("evaluation_error", {"failed_records"}),
        ("skipped", {"skipped_records"}),
        ("cancelled", {"skipped_records", "cancelled_records"}),
    ],
)
def test_a_status_counts_in_its_denominators(status: str, counted: set[str]) -> None:
    found = summary(facts(0, passed=True if status == "evaluated" else None, status=status))
    names = {name for name in found if name.endswith("_records")}
    valid = set[str]() if status == "invalid_record" else {"valid_records"}

    assert {name for name in names if found[name]} == {"total_records", *valid, *counted}


@given(st.lists(st.tuples(st.sampled_from(STATUSES), st.booleans()), max_size=30))
def test_the_denominators_add_up_whatever_becomes_of_the_records(
    records: list[tuple[str, bool]],
) -> None:
    found = summary(
        *(
            facts(index, passed=passed if status == "evaluated" else None, status=status)
            for index, (status, passed) in enumerate(records)
        )
    )

    assert found["total_records"] == len(records)
    assert found["total_records"] == (
        found["evaluated_records"] + found["failed_records"] + found["skipped_records"]
    )
    assert found["valid_records"] == found["total_records"] - found["invalid_records"]
    assert found["pass_count"] + found["fail_count"] == found["evaluated_records"]
    assert found["pass_rate"]["n"] == found["score"]["n"] == found["evaluated_records"]
    assert sum(found["score_distribution"]) == found["evaluated_records"]


@given(st.lists(st.lists(st.sampled_from((True, False, None)), min_size=1, max_size=4)))
def test_with_repeats_records_are_counted_and_rows_apart(
    records: list[list[bool | None]],
) -> None:
    found = summary(
        *(one for index, passes in enumerate(records) for one in repeats(index, *passes))
    )
    evaluated = [passes for passes in records if set(passes) != {None}]

    assert (found["total_records"], found["rows"]) == (len(records), sum(map(len, records)))
    assert found["evaluated_records"] == len(evaluated)
    assert found["pass_count"] + found["fail_count"] == pytest.approx(len(evaluated))


@pytest.mark.parametrize(
    ("statuses", "counted", "failures"),
    [
        (("evaluated", "timeout"), "evaluated_records", 1),
        (("timeout", "evaluated"), "evaluated_records", 1),
        (("cancelled", "evaluation_error"), "failed_records", 2),
        (("skipped", "timeout"), "failed_records", 1),
        (("skipped", "cancelled"), "cancelled_records", 1),
        (("skipped", "skipped"), "skipped_records", 0),
        (("evaluated", "skipped"), "evaluated_records", 0),
    ],
)
def test_a_failed_repeat_is_counted_whatever_becomes_of_its_record(
    statuses: tuple[str, str], counted: str, failures: int
) -> None:
    found = summary(
        *(
            facts(0, passed=True if status == "evaluated" else None, repeat=repeat, status=status)
            for repeat, status in enumerate(statuses)
        )
    )

    assert (found["total_records"], found[counted]) == (1, 1)
    assert (found["rows"], found["failure_rows"]) == (2, failures)
    assert found["unscored_repeats"] == (1 if counted == "evaluated_records" else 0)


def test_passes_have_wilsons_interval() -> None:
    found = summary(*(facts(index, passed=index < 180) for index in range(200)))

    assert found["pass_rate"] == asdict(wilson(180, 200))
    assert (found["pass_count"], found["fail_count"]) == (180, 20)


def test_the_pass_of_a_record_is_the_mean_over_its_evaluated_repeats() -> None:
    found = summary(*repeats(0, True, False, None), *repeats(1, True, True, True))

    assert (found["pass_count"], found["fail_count"]) == (1.5, 0.5)
    assert found["pass_rate"] == asdict(rate_interval([0.5, 1.0], rows=5))


def test_repeats_that_agree_are_no_more_certain_than_one() -> None:
    once = summary(*(facts(index, passed=index < 3) for index in range(5)))
    thrice = summary(*(one for index in range(5) for one in repeats(index, *([index < 3] * 3))))

    assert thrice["pass_rate"] == once["pass_rate"]
    assert thrice["score"] == once["score"]


@pytest.mark.parametrize(
    ("passes", "missing", "low", "high"),
    [((True, False), 0, 0.5, 0.5), ((True, False), 2, 0.25, 0.75), ((), 3, 0.0, 1.0)],
)
def test_the_bounds_let_every_missing_record_fail_or_pass(
    passes: tuple[bool, ...], missing: int, low: float, high: float
) -> None:
    outcomes = (*passes, *[None] * missing)
    found = summary(*(facts(index, passed=passed) for index, passed in enumerate(outcomes)))

    assert found["pass_rate_bounds"] == {"low": low, "high": high}


def test_the_score_is_the_mean_of_raw_scores_clipped_afterwards() -> None:
    """LE-53"""
    raw = (-3.0, 1.0, 1.0)
    found = summary(
        *(facts(index, passed=score > 0, raw_score=score) for index, score in enumerate(raw))
    )

    assert (found["score"]["value"], found["score"]["low"]) == (0.0, 0.0)
    assert found["score"]["high"] == pytest.approx(0.955, abs=0.001)
    assert found["score_distribution"] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]


def conversations(count: int, turns: int, good: int) -> list[Facts]:
    """Conversations of so many turns; the turns of a good one all pass."""
    return [
        facts(
            index,
            passed=index // turns < good,
            cluster=f"talk {index // turns}",
            slices=(("tags", "all"),),
            checks=(checked("right", passed=index // turns < good),),
        )
        for index in range(count * turns)
    ]


def test_the_turns_of_a_conversation_count_as_one_everywhere() -> None:
    """20 conversations of 5 turns that pass or fail as a whole are 20 pieces of evidence."""
    records = conversations(20, 5, good=16)
    found = summary(*records)
    expected = rate_interval(
        [float(index < 80) for index in range(100)], [i // 5 for i in range(100)]
    )

    assert found["pass_rate"] == asdict(expected)
    assert (found["pass_rate"]["n"], found["pass_rate"]["clusters"]) == (100, 20)
    assert found["pass_rate"]["n_effective"] == pytest.approx(19)
    assert found["pass_rate"]["low"] < 0.6
    assert found["score"] == found["pass_rate"]
    assert found["checks"]["right"]["pass_rate"] == found["pass_rate"]
    assert slices(*records)[0]["pass_rate"] == found["pass_rate"]


def test_a_record_without_a_conversation_is_a_cluster_of_its_own() -> None:
    found = summary(
        facts(0, passed=True),
        facts(1, passed=False),
        facts(2, passed=True, cluster="talk"),
        facts(3, passed=False, cluster="talk"),
    )

    assert found["score"] == asdict(mean_interval([1.0, 0.0, 1.0, 0.0], [1, 2, 0, 0]))
    assert found["score"]["clusters"] == 3


def test_conversations_of_one_turn_are_independent() -> None:
    found = summary(
        *(facts(index, passed=index < 9, cluster=f"talk {index}") for index in range(10))
    )

    assert found["pass_rate"] == asdict(wilson(9, 10))


def test_a_slice_without_two_records_of_a_conversation_is_independent() -> None:
    records = conversations(10, 2, good=8)
    odd = [
        facts(
            one.index,
            passed=one.passed,
            cluster=one.cluster,
            slices=(("turn", str(one.index % 2)),),
        )
        for one in records
    ]

    assert slices(*odd)[0]["pass_rate"] == asdict(wilson(8, 10))


def test_a_pass_rate_of_repeats_respects_conversations_too() -> None:
    found = summary(
        *(
            one
            for index in range(8)
            for one in repeats(index, index < 4, True, cluster=f"talk {index // 4}")
        )
    )
    expected = rate_interval([1.0] * 4 + [0.5] * 4, [0] * 4 + [1] * 4, rows=16)

    assert found["pass_rate"] == asdict(expected)


def test_raw_scores_that_are_all_negative_have_an_interval_with_a_width() -> None:
    found = summary(
        *(facts(index, passed=False, raw_score=-1.0 - index % 3) for index in range(60))
    )

    assert (found["score"]["value"], found["score"]["low"]) == (0.0, 0.0)
    assert 0.02 < found["score"]["high"] < 0.1


def test_unscored_counts_the_rows_whose_target_answered() -> None:
    found = summary(
        facts(0, answered=True),
        facts(1, answered=False),
        facts(2, status="timeout", answered=True),
        *repeats(3, None, None, answered=True),
    )

    assert found["unscored_count"] == 3


def test_a_number_that_targets_did_not_give_is_unknown_and_not_zero() -> None:
    found = summary(facts(0, passed=True))

    assert found["latency_ms"] == {"p50": None, "p95": None, "n": 0}
    assert found["tokens"] == {"input": None, "output": None, "total": None, "n": 0}
    assert found["cost_usd"] == {"total": None, "n": 0, "judging": None}


def test_latency_tokens_and_cost_say_over_how_many_rows() -> None:
    found = summary(
        facts(0, passed=True, latency_ms=100.0, input_tokens=10, output_tokens=5, cost_usd=0.5),
        facts(1, passed=True, latency_ms=300.0, input_tokens=20, cost_usd=0.25),
        facts(2, passed=True, output_tokens=1),
        facts(3, passed=True),
    )

    assert found["latency_ms"] == {"p50": 200.0, "p95": 290.0, "n": 2}
    assert found["tokens"] == {"input": 30, "output": 6, "total": 36, "n": 3}
    assert found["cost_usd"] == {"total": 0.75, "n": 2, "judging": None}


def test_judges_are_counted_apart_and_their_cost_is_in_the_whole() -> None:
    judged = Judging(calls=2, attempts=2, input_tokens=8, output_tokens=2, cost_usd=0.25)
    found = summary(
        facts(0, passed=True, input_tokens=1, cost_usd=0.75, judging=judged),
        # Its answer was given before; its judges were asked all the same.
        facts(1, passed=True, input_tokens=1, cost_usd=0.25, judging=judged, is_cached=True),
        facts(2, passed=True, input_tokens=1, cost_usd=0.5),
    )

    assert found["cost_usd"] == {"total": 1.5, "n": 3, "judging": 0.5}
    assert found["tokens"]["input"] == 2
    assert found["judging"]["rows"] == 2
    assert found["judging"]["tokens"] == {"input": 16, "output": 4, "total": 20, "n": 2}
    assert summary(facts(0, passed=True))["judging"] is None


def test_attempts_are_counted_and_retried_records_once() -> None:
    found = summary(
        facts(0, passed=True, attempts=1),
        *repeats(1, True, None, attempts=3),
        facts(2, attempts=0),
    )

    assert (found["attempts"], found["retried_records"]) == (7, 1)


def test_each_check_has_its_own_rate_over_what_it_scored() -> None:
    skipped = CheckFact("b", "latency", "skipped", None, None)
    unscored = CheckFact("b", "latency", "unscored", None, None)
    found = summary(
        facts(0, passed=True, checks=(checked("a", passed=True), skipped)),
        facts(1, passed=False, checks=(checked("a", passed=False), skipped)),
        facts(2, checks=(checked("a", passed=True), unscored)),
    )["checks"]

    assert list(found) == ["a", "b"]
    assert found["a"] == {
        "kind": "equals",
        "pass_rate": asdict(wilson(2, 3)),
        "mean_score": pytest.approx(2 / 3),
        "skipped": 0,
        "unscored": 0,
    }
    assert (found["b"]["mean_score"], found["b"]["pass_rate"]["n"]) == (None, 0)
    assert (found["b"]["skipped"], found["b"]["unscored"]) == (2, 1)


def test_a_check_is_no_more_certain_for_repeats_of_the_same_record() -> None:
    records = [
        facts(index, passed=True, repeat=repeat, checks=(checked("a", passed=index < 3),))
        for index in range(4)
        for repeat in range(5)
    ]
    rate = summary(*records)["checks"]["a"]["pass_rate"]

    assert (rate["value"], rate["n"]) == (0.75, 4)


def test_every_slice_has_the_same_metrics_over_its_own_records() -> None:
    records = [
        facts(0, passed=True, slices=(("tags", "b"), ("tags", "a"), ("task_type", None))),
        facts(1, passed=False, slices=(("tags", "a"), ("task_type", "qa"))),
        facts(2, passed=True, slices=(("tags", None), ("task_type", "qa"))),
    ]
    found = slices(*records)

    assert [(row["slice"], row["value"], row["total_records"]) for row in found] == [
        ("tags", "a", 2),
        ("tags", "b", 1),
        ("tags", None, 1),
        ("task_type", "qa", 2),
        ("task_type", None, 1),
    ]
    alone = summary(*records[:2])
    assert [found[0][key] for key in Summary.__struct_fields__] == [
        alone[key] for key in Summary.__struct_fields__
    ]


def test_repeats_of_a_record_are_one_record_in_a_slice() -> None:
    (found,) = slices(*repeats(0, True, False, slices=(("tags", "a"),)))

    assert (found["total_records"], found["rows"], found["pass_count"]) == (1, 2, 0.5)


def test_facts_may_come_one_at_a_time() -> None:
    assert metrics_of(iter([facts(0, passed=True)])) == metrics_of([facts(0, passed=True)])


def test_many_different_scores_are_counted_like_few() -> None:
    """Beyond 256 different numbers a column holds them one by one."""
    scores = [(number % 400) / 400 for number in range(1200)]
    found = summary(
        *(
            facts(place, passed=True, score=score, raw_score=score)
            for place, score in enumerate(scores)
        )
    )

    assert found["score"] == asdict(mean_interval(scores))
    assert found["score_distribution"] == distribution(scores)


def test_questions_are_counted_over_the_repeats_of_a_record() -> None:
    def asked(*values: int) -> dict[str, tuple[QuestionFact, ...]]:
        return {"quality": (QuestionFact("right", "score", "a", values),)}

    check = checked("quality", passed=True)
    found = summary(
        facts(0, passed=True, checks=(check,), questions=asked(1)),
        facts(0, passed=True, checks=(check,), questions=asked(3), repeat=1),
        facts(1, passed=True, checks=(check,), questions=asked(5)),
    )

    assert found["questions"]["right"]["answered"] == 3
    assert found["questions"]["right"]["mean"] == asdict(mean_interval([2.0, 5.0], bounds=None))
