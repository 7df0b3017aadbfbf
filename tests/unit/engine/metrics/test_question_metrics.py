"""How questions, criteria and items were answered in a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.metrics.columns import LabelColumn
from steelyard.engine.metrics.fact_batches import Members
from steelyard.engine.metrics.question_metrics import (
    MOST_ITEMS,
    MOST_VALUES,
    AnswerSheets,
)
from steelyard.results.question_facts import QuestionFact
from steelyard.stats.intervals import wilson
from steelyard.stats.rates import mean_interval, rate_interval

Record = list[QuestionFact]


def fact(
    item: str, kind: str, *values: Any, asked: str = "a", unanswered: int = 0
) -> QuestionFact:
    return QuestionFact(item, kind, asked, values, unanswered)


def questions(
    *records: Record, check: str = "quality", clusters: list[str] | None = None
) -> dict[str, Any]:
    sheets, labels = AnswerSheets(Members()), LabelColumn()
    labels.extend(clusters or [None] * len(records))
    for place, record in enumerate(records):
        sheets.extend([{check: record}], [place])
    sheets.count()
    return {name: one.json() for name, one in sheets.tallies[0].summary(labels).items()}


def test_nothing_asked_is_nothing_told() -> None:
    assert questions() == {}
    assert questions([], []) == {}


def test_a_score_has_counts_and_a_mean_with_its_interval() -> None:
    values = [5, 4, 4, 0]
    found = questions(*([fact("right", "score", value)] for value in values))

    assert found == {
        "right": {
            "check": "quality",
            "type": "score",
            "answered": 4,
            "unanswered": 0,
            "counts": {"0": 1, "4": 2, "5": 1},
            "mean": asdict(mean_interval(values, bounds=None)),
        }
    }


def test_yes_and_no_are_a_rate() -> None:
    found = questions(*([fact("relevant", "yes_no", value)] for value in (1, 1, 0)))

    assert found["relevant"]["counts"] == {"0": 1, "1": 2}
    assert found["relevant"]["mean"] == asdict(wilson(2, 3))


def test_options_have_counts_and_no_mean() -> None:
    found = questions([fact("why", "single_select", "tool")], [fact("why", "single_select", "b")])

    assert found["why"]["counts"] == {"b": 1, "tool": 1}
    assert found["why"]["mean"] is None


def test_several_options_count_each_for_themselves() -> None:
    found = questions(
        [fact("tags", "multi_select", ("a", "b"))], [fact("tags", "multi_select", (), ("b",))]
    )

    assert found["tags"]["answered"] == 3
    assert found["tags"]["counts"] == {"a": 1, "b": 2}


def test_a_record_counts_once_however_many_turns_and_repeats_it_has() -> None:
    many = [fact("clear", "score", 0, 1, 2), fact("clear", "score", 3, 4, unanswered=1)]
    found = questions(many, [fact("clear", "score", 5)])

    assert (found["clear"]["answered"], found["clear"]["unanswered"]) == (6, 1)
    assert found["clear"]["mean"] == asdict(mean_interval([2.0, 5.0], bounds=None))


def test_records_of_a_conversation_count_as_one() -> None:
    values = [1, 1, 0, 0, 1, 1]
    found = questions(*([fact("kind", "yes_no", value)] for value in values), clusters=[*"aabbcc"])

    assert found["kind"]["mean"] == asdict(rate_interval(values, [0, 0, 1, 1, 2, 2]))
    assert found["kind"]["mean"]["clusters"] == 3


def test_few_scores_of_unknown_bounds_have_no_interval_and_many_have() -> None:
    few = questions(*([fact("right", "score", value)] for value in (5, 4)))
    many = questions(*([fact("right", "score", value % 6)] for value in range(60)))

    assert (few["right"]["mean"]["value"], few["right"]["mean"]["low"]) == (4.5, None)
    assert many["right"]["mean"]["low"] < 2.5 < many["right"]["mean"]["high"]


def test_what_was_not_answered_is_counted_and_in_no_mean() -> None:
    found = questions([fact("right", "score", unanswered=2)], [fact("right", "score", 1)])

    assert (found["right"]["answered"], found["right"]["unanswered"]) == (1, 2)
    assert found["right"]["mean"]["n"] == 1
    assert questions([fact("right", "score", unanswered=1)])["right"]["mean"] is None


def test_criteria_are_counted_together_and_one_by_one() -> None:
    first = [fact("a", "criterion", 1), fact("b", "criterion", 0)]
    second = [fact("a", "criterion", 1), fact("b", "criterion", unanswered=1)]
    found = questions(first, second, check="criteria")

    assert list(found) == ["criteria", "a", "b"]
    assert found["criteria"] == {
        "check": "criteria",
        "type": "criteria",
        "answered": 3,
        "unanswered": 1,
        "counts": {"0": 1, "1": 2},
        "mean": asdict(rate_interval([0.5, 1.0], rows=3)),
        "listed": 2,
    }
    assert found["a"]["mean"] == asdict(wilson(2, 2))
    assert found["b"]["unanswered"] == 1


def test_criteria_of_one_name_that_ask_different_things_are_not_added_up() -> None:
    found = questions(
        [fact("rubric-1", "item", 1, asked="x"), fact("rubric-2", "item", 1)],
        [fact("rubric-1", "item", 0, asked="y"), fact("rubric-2", "item", 1)],
        check="rubric",
    )

    assert list(found) == ["rubric", "rubric-2"]
    assert (found["rubric"]["answered"], found["rubric"]["listed"]) == (4, 1)


@pytest.mark.parametrize(("count", "listed"), [(MOST_ITEMS, MOST_ITEMS), (MOST_ITEMS + 1, 0)])
def test_more_criteria_than_can_be_read_are_counted_together_alone(
    count: int, listed: int
) -> None:
    found = questions(*([fact(str(number), "criterion", 1)] for number in range(count)))

    assert len(found) == 1 + listed
    assert (found["quality"]["answered"], found["quality"]["listed"]) == (count, listed)


def test_questions_are_listed_however_many_there_are() -> None:
    record = [fact(str(number), "yes_no", 1) for number in range(MOST_ITEMS + 1)]

    assert len(questions(record)) == MOST_ITEMS + 1


@pytest.mark.parametrize(
    ("different", "is_counted"), [(MOST_VALUES, True), (MOST_VALUES + 1, False)]
)
def test_many_different_answers_have_no_counts(different: int, is_counted: bool) -> None:
    values = [*range(different), 0]
    found = questions([fact("right", "score", *values)], [fact("right", "score", 3)])

    assert (found["right"]["counts"] is not None) is is_counted
    assert found["right"]["answered"] == different + 2


def test_questions_of_two_checks_with_one_name_are_kept_apart() -> None:
    sheets = AnswerSheets(Members())
    first = [fact("right", "yes_no", 1), fact("tone", "yes_no", 1)]
    sheets.extend([{"first": first, "second": [fact("right", "yes_no", 0)]}], [0])
    sheets.count()

    found = sheets.tallies[0].summary(LabelColumn())
    assert list(found) == ["first/right", "tone", "second/right"]


ANSWERS = st.lists(
    st.builds(
        fact,
        st.sampled_from(["right", "tone", "note"]),
        st.sampled_from(["score", "yes_no", "criterion", "item"]),
        st.sampled_from([0, 1, 1.0, 0.1, 0.7, 5, "minor", ("a", "b")]),
        asked=st.sampled_from("ab"),
        unanswered=st.integers(0, 1),
    ),
    max_size=3,
)
RECORDS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(["quality", "jury"]), ANSWERS, max_size=2),
        st.lists(st.sampled_from([("tags", "x"), ("tags", "y")]), unique=True).map(tuple),
    ),
    max_size=30,
)


@given(RECORDS)
def test_records_that_are_counted_together_come_to_what_each_comes_to(
    records: list[tuple[dict[str, Record], tuple[tuple[str, str], ...]]],
) -> None:
    """To the byte, and in the same order: of the whole run, and of every slice."""

    def counted(*, at_once: bool) -> bytes:
        members, labels = Members(), LabelColumn()
        members.extend([slices for _, slices in records])
        labels.extend([None] * len(records))
        sheets = AnswerSheets(members)
        for place, (record, _) in enumerate(records):
            sheets.extend([record], [place])
            if not at_once:
                sheets.count()
        sheets.count()
        tallies = sorted(sheets.tallies.items())
        return msgspec.json.encode([(name, one.summary(labels)) for name, one in tallies])

    assert counted(at_once=True) == counted(at_once=False)


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=20))
def test_counts_add_up_to_the_answers(records: list[list[int]]) -> None:
    found = questions(*([fact("right", "score", *values)] for values in records))
    answers = [value for values in records for value in values]

    if records:
        assert sum(found["right"]["counts"].values()) == found["right"]["answered"] == len(answers)
        assert (found["right"]["mean"] is None) == (not answers)
