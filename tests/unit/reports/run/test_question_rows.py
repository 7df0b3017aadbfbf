"""Figures of questions: means and shares with intervals, and what has no answer."""

from __future__ import annotations

from msgspec import structs

from steelyard.model.statistics.interval import Interval
from steelyard.reports.run.question_rows import question_lines, question_table
from steelyard.results.metrics import Metrics, QuestionMetrics
from strategies.run_facts import facts
from strategies.run_views import run_view

MEAN = Interval(1.9, 0.9, 2.8, "t", 19)
RATE = Interval(1.0, 0.8, 1.0, "wilson", 15)


def asked(**questions: QuestionMetrics) -> Metrics:
    rows = [facts(number, passed=True) for number in range(20)]
    return structs.replace(run_view(rows).metrics, questions=questions)


def question(
    kind: str, counts: dict[str, int] | None, unanswered: int = 0, mean: Interval | None = None
) -> QuestionMetrics:
    answered = sum(counts.values()) if counts else 300
    return QuestionMetrics(
        check="questions",
        type=kind,
        answered=answered,
        unanswered=unanswered,
        counts=counts,
        mean=mean,
    )


def test_a_run_without_questions_has_no_table() -> None:
    assert question_table(asked()) is None
    assert list(question_lines(asked())) == []


def test_each_question_has_its_mean_or_its_shares_with_what_is_unanswered() -> None:
    found = asked(
        correctness=question("score", {"0": 9, "3": 7, "5": 3}, 1, MEAN),
        is_relevant=question("yes_no", {"1": 15}, 5, RATE),
        failure=question("single_select", {"none": 10, "tool": 10}),
    )
    table = question_table(found)
    assert table

    relevant, failure = table.rows[1:]
    assert (relevant.answers[0].word, relevant.unanswered) == ("yes", 5)
    assert relevant.mean_text == "100.0 % [80.0, 100.0]"
    assert failure.answers[0].share
    assert failure.answers[0].share.value == 0.5
    assert dict(question_lines(found)) == {
        "correctness": "1.900 [0.900, 2.800]  n = 19; 0: 9, 3: 7, 5: 3; "
        "19 answers, 1 without an answer",
        "is_relevant": "100.0 % [80.0, 100.0]  n = 15; 15 answers, 5 without an answer",
        "failure": "none: 10, tool: 10; 20 answers",
    }


def test_answers_about_turns_have_no_interval_as_if_they_were_independent() -> None:
    found = asked(verdict=question("button_group", {"fail": 17, "pass": 23}))
    table = question_table(found)
    assert table

    assert table.rows[0].about == "turns"
    assert [one.share for one in table.rows[0].answers] == [None, None]
    assert dict(question_lines(found)) == {"verdict": "fail: 17, pass: 23; 40 answers about turns"}


def test_what_is_too_much_to_list_is_said_to_be_left_out() -> None:
    many = {f"q{number}": question("score", None, 0, MEAN) for number in range(120)}
    table = question_table(asked(**many))
    assert table

    assert (len(table.rows), table.more) == (100, 20)
    assert table.rows[0].answers == ()
    assert list(question_lines(asked(**many)))[-1] == ("", "and 108 more in metrics_summary.json")
