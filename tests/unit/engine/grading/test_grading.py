"""A trace under a rubric."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import pytest

from fakes.scripted_judges import asker_saying
from steelyard.checks.equals import Equals
from steelyard.checks.regex import Regex
from steelyard.engine.grading.composite import composite
from steelyard.engine.grading.grading import grade, grade_judged
from steelyard.model.case import Case
from steelyard.model.json_value import Extra
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Combine, Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict
from strategies.traces import said

PASS, FAIL = Outcome.passing("good"), Outcome.failing("bad")
SKIPPED, UNSCORED = Outcome.skipped("no data"), Outcome.unscored("no reply")


def scored(score: float) -> Outcome:
    return Outcome(score=score, passed=score >= 0.5, reason=f"{score}")


@dataclass(frozen=True)
class Fixed:
    """Finds what it is told to find."""

    kind: ClassVar[str] = "fixed"

    outcome: Outcome

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        return self.outcome


@dataclass(frozen=True)
class Broken:
    """Breaks in the middle."""

    kind: ClassVar[str] = "broken"

    error: BaseException

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        raise self.error


@dataclass(frozen=True)
class BrokenAsking(Broken):
    """The same where judges may be asked."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:  # noqa: ARG002
        """Never an outcome."""
        raise self.error


def entries(*outcomes: Outcome, **settings: Any) -> tuple[RubricCheck, ...]:
    return tuple(
        RubricCheck(id=f"c{number}", check=Fixed(outcome), **settings)
        for number, outcome in enumerate(outcomes, start=1)
    )


def graded(
    checks: tuple[RubricCheck, ...], combine: Combine = "weighted_avg", threshold: float = 0.7
) -> Verdict:
    rubric = Rubric(
        id="r", version="1.0.0", checks=checks, combine=combine, pass_threshold=threshold
    )
    return grade(rubric, said("x"), Case(id="case-1"))


@pytest.mark.parametrize(
    ("combine", "scores", "score"),
    [
        ("all_pass", (1.0, 0.6), 1.0),
        ("all_pass", (1.0, 0.4), 0.0),
        ("any_pass", (0.4, 0.6), 1.0),
        ("any_pass", (0.4, 0.2), 0.0),
        ("weighted_avg", (1.0, 0.5, 0.0), 0.5),
        ("min", (1.0, 0.3, 0.6), 0.3),
        ("max", (0.1, 0.9, 0.6), 0.9),
        ("median", (0.1, 0.9, 0.6), 0.6),
        ("median", (0.2, 0.8), 0.5),
    ],
)
def test_results_are_combined_as_the_rubric_says(
    combine: Combine, scores: tuple[float, ...], score: float
) -> None:
    """CR-13"""
    verdict = graded(entries(*map(scored, scores)), combine)

    assert (verdict.status, verdict.score, verdict.raw_score) == (
        "evaluated",
        pytest.approx(score),
        pytest.approx(score),
    )


@pytest.mark.parametrize(
    ("combine", "threshold", "passed"),
    [
        ("weighted_avg", 0.5, True),
        ("weighted_avg", 0.51, False),
        ("max", 1.0, True),
        ("min", 0.1, False),
        ("min", 0.0, True),
        # what counts passes does not look at the threshold
        ("all_pass", 0.0, False),
        ("any_pass", 1.0, True),
    ],
)
def test_a_case_passes_when_its_score_reaches_the_threshold(
    combine: Combine, threshold: float, passed: bool
) -> None:
    """CR-13"""
    assert graded(entries(PASS, FAIL), combine, threshold).passed is passed


@pytest.mark.parametrize(
    ("weights", "score"),
    [((3, 1), 0.75), ((0, 1), 0.0), ((1, 0), 1.0), ((0.5, 0.5), 0.5)],
)
def test_a_score_counts_by_its_weight(weights: tuple[float, float], score: float) -> None:
    first, second = entries(PASS, weight=weights[0]), entries(FAIL, weight=weights[1])

    assert graded(first + second).score == score


def test_weights_that_binary_numbers_cannot_hold_still_reach_the_threshold() -> None:
    checks = entries(*[PASS] * 8, *[FAIL] * 2, weight=0.1)

    assert graded(checks, threshold=0.8).passed


@pytest.mark.parametrize(("outcomes", "score"), [((PASS, PASS), 1.0), ((PASS, FAIL), 0.0)])
def test_where_nothing_has_weight_every_check_must_pass(
    outcomes: tuple[Outcome, ...], score: float
) -> None:
    """CR-18"""
    verdict = graded(entries(*outcomes, weight=0.0))

    assert (verdict.score, verdict.passed) == (score, score == 1.0)


def test_a_failed_required_check_fails_the_case_and_leaves_its_score() -> None:
    """CR-14"""
    verdict = graded(entries(PASS) + entries(FAIL, weight=0.0, required=True))

    assert (verdict.score, verdict.passed) == (1.0, False)
    assert verdict.reason == "required check c1: bad"


def test_a_required_check_that_passes_does_not_pass_the_case() -> None:
    """CR-14"""
    assert not graded(entries(PASS, weight=0.1, required=True) + entries(FAIL)).passed


@pytest.mark.parametrize(
    ("outcome", "passed", "score", "reason"),
    [(PASS, False, 0.0, "not: good"), (FAIL, True, 1.0, "not: bad")],
)
def test_negation_turns_pass_and_score_round(
    outcome: Outcome, passed: bool, score: float, reason: str
) -> None:
    """CR-15"""
    (result,) = graded(entries(outcome, negate=True)).results

    assert (result.outcome.passed, result.outcome.score) == (passed, score)
    assert result.outcome.reason == reason


@pytest.mark.parametrize("outcome", [SKIPPED, UNSCORED])
def test_negation_makes_no_result_out_of_none(outcome: Outcome) -> None:
    """CR-15"""
    (result,) = graded(entries(outcome, negate=True)).results

    assert result.outcome == outcome


@pytest.mark.parametrize("combine", ["all_pass", "any_pass", "weighted_avg", "min", "median"])
def test_a_skipped_check_leaves_the_combination(combine: Combine) -> None:
    """CR-16"""
    verdict = graded(entries(SKIPPED, PASS, required=True), combine)

    assert (verdict.status, verdict.score, verdict.passed) == ("evaluated", 1.0, True)
    assert [result.outcome.status for result in verdict.results] == ["skipped", "scored"]


def test_a_case_whose_checks_are_all_skipped_is_skipped() -> None:
    """CR-16"""
    verdict = graded(entries(SKIPPED, SKIPPED))

    assert (verdict.status, verdict.score, verdict.passed) == ("skipped", None, None)
    assert verdict.reason == "c1: no data; c2: no data"


def test_a_check_that_could_not_be_carried_out_leaves_the_case_without_a_score() -> None:
    """CR-17"""
    verdict = graded(entries(PASS, UNSCORED, FAIL))

    assert (verdict.status, verdict.score, verdict.passed) == ("evaluation_error", None, None)
    assert verdict.reason == "c2: no reply"
    assert len(verdict.results) == 3


@pytest.mark.parametrize(
    ("required", "status"), [(False, "evaluated"), (True, "evaluation_error")]
)
def test_a_required_check_without_its_program_leaves_the_case_without_a_score(
    required: bool, status: str
) -> None:
    lint = Outcome.unavailable("php is not installed")
    (others,) = entries(PASS)
    verdict = graded((others, *entries(lint, required=required)))

    assert verdict.status == status


def test_a_required_composite_of_checks_without_their_program_leaves_no_score() -> None:
    inner = Rubric(
        id="inner",
        version="1.0.0",
        checks=entries(Outcome.unavailable("php is not installed")),
    )
    (others,) = entries(PASS)
    entry = RubricCheck(id="inner", check=composite(inner), required=True)

    assert graded((others, entry)).status == "evaluation_error"


@pytest.mark.parametrize(
    ("rest", "negate", "status"),
    [
        (PASS, False, "evaluation_error"),
        (FAIL, False, "evaluated"),
        (FAIL, True, "evaluation_error"),
    ],
)
def test_a_required_composite_that_was_not_looked_at_in_part_does_not_pass(
    rest: Outcome, negate: bool, status: str
) -> None:
    """CR-17"""
    checks = entries(rest, Outcome.unavailable("no price"))
    inner = Rubric(id="inner", version="1.0.0", checks=checks)
    entry = RubricCheck(id="inner", check=composite(inner), required=True, negate=negate)
    verdict = graded((*entries(PASS), entry))

    assert verdict.status == status
    assert not verdict.passed
    assert "not looked at: c2: no price" in verdict.results[1].outcome.reason


@pytest.mark.parametrize(
    ("error", "told"), [(KeyError("x"), "KeyError: 'x'"), (SystemExit(0), "SystemExit: 0")]
)
def test_a_check_that_breaks_is_unscored_and_stops_nothing(
    error: BaseException, told: str
) -> None:
    """CR-17"""
    verdict = graded((RubricCheck(id="b", check=Broken(error)), *entries(PASS)))

    assert verdict.status == "evaluation_error"
    assert verdict.reason == f"b: {told}"
    assert [result.outcome.status for result in verdict.results] == ["unscored", "scored"]


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(0)])
def test_a_check_that_asks_judges_and_breaks_stops_nothing(error: BaseException) -> None:
    checks = (RubricCheck(id="b", check=BrokenAsking(error)), *entries(PASS))
    rubric = Rubric(id="r", version="1.0.0", checks=checks)
    grading = grade_judged(rubric, said("yes"), Case(id="a"), asker_saying())
    verdict = asyncio.run(grading)

    assert verdict.reason == f"b: {type(error).__name__}: {error}"
    assert [result.outcome.status for result in verdict.results] == ["unscored", "scored"]


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "the check returned NoneType, not an Outcome"),
        (True, "the check returned bool, not an Outcome"),
        (
            Outcome(reason="", passed=True),
            "a result needs a score in [0, 1] and a pass, not score None, passed True",
        ),
        (
            Outcome(reason="", score=1.0),
            "a result needs a score in [0, 1] and a pass, not score 1.0, passed None",
        ),
        (
            Outcome(reason="", score=1.5, passed=True),
            "a result needs a score in [0, 1] and a pass, not score 1.5, passed True",
        ),
        (
            Outcome(reason="", score=float("nan"), passed=True),
            "a result needs a score in [0, 1] and a pass, not score nan, passed True",
        ),
        (
            Outcome(reason="", score=1.0, passed=cast(bool, "yes")),
            "a result needs a score in [0, 1] and a pass, not score 1.0, passed 'yes'",
        ),
        (
            Outcome(reason="", score=True, passed=True),
            "a result needs a score in [0, 1] and a pass, not score True, passed True",
        ),
        (replace(PASS, reason=cast(str, 7)), "a reason is a text, not 7"),
        (replace(PASS, raw_score=cast(float, "a")), "a raw score is a number, not 'a'"),
        (replace(PASS, details=cast(Extra, [1])), "details are an object, not list"),
        (
            replace(SKIPPED, details={"a": cast(str, object())}),
            "the details are no JSON: TypeError: Encoding objects of type object is unsupported",
        ),
    ],
)
def test_a_check_that_breaks_its_promise_is_unscored(returned: object, reason: str) -> None:
    """CR-17"""
    (result,) = graded(entries(cast(Outcome, returned))).results

    assert result.outcome == Outcome.unscored(reason)


def test_text_that_no_pattern_can_read_is_unscored() -> None:
    """CR-17"""
    rubric = Rubric(
        id="r", version="1.0.0", checks=(RubricCheck(id="a", check=Regex(pattern="x")),)
    )

    assert grade(rubric, said("\ud800"), Case(id="a")).status == "evaluation_error"


@pytest.mark.parametrize(
    ("outcomes", "threshold", "reason"),
    [
        ((PASS, FAIL), 0.5, "c1: good"),
        ((FAIL, PASS), 0.5, "c2: good"),
        ((PASS, FAIL), 0.9, "c2: bad"),
        # no check agrees with the verdict: the first speaks for all
        ((scored(0.6), scored(0.6)), 0.7, "c1: 0.6"),
    ],
)
def test_the_reason_comes_from_a_check_that_agrees(
    outcomes: tuple[Outcome, ...], threshold: float, reason: str
) -> None:
    assert graded(entries(*outcomes), threshold=threshold).reason == reason


def test_a_result_names_its_check() -> None:
    entry = RubricCheck(id="a", check=Equals(value="x"), weight=2.0, required=True)
    (result,) = graded((entry,)).results

    assert (result.check, result.kind, result.weight, result.required) == (
        "a",
        "equals",
        2.0,
        True,
    )
