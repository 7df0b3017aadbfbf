"""Jurors against people: what each is worth, and what they are worth together."""

from __future__ import annotations

import pytest

from steelyard.model.statistics.validation import Counts, JuryCounts
from steelyard.usecases.correction.judged_rows import JurorVote
from steelyard.usecases.judges.jurors import Bench, jury_of

# Good or not, and what three jurors say; a dot is a juror without a score.
ROWS = ("1 111", "1 110", "1 101", "1 001", "0 000", "0 100", "0 110", "0 001", "0 00.")


def bench(row: str, weights: tuple[float, ...] = (2, 1, 1)) -> Bench:
    good, votes = row.split()
    said = {"1": True, "0": False, ".": None}
    return Bench(
        good == "1",
        tuple(
            JurorVote(f"judge/{name}@1.0.0", weight, said[vote])
            for name, weight, vote in zip("abc", weights, votes, strict=True)
        ),
    )


def jury(*rows: str) -> JuryCounts:
    found = jury_of([bench(row) for row in rows])
    assert found
    return found


def test_each_juror_is_counted_by_itself() -> None:
    found = jury(*ROWS)

    assert [(one.judge, one.weight, one.unscored) for one in found.jurors] == [
        ("judge/a@1.0.0", 2, 0),
        ("judge/b@1.0.0", 1, 0),
        ("judge/c@1.0.0", 1, 1),
    ]
    assert [one.counts for one in found.jurors] == [
        Counts(tp=3, fn=1, tn=3, fp=2),
        Counts(tp=2, fn=2, tn=4, fp=1),
        Counts(tp=3, fn=1, tn=3, fp=1),
    ]
    assert found.best == 2


def test_the_jury_is_compared_with_its_best_juror_over_the_responses_of_both() -> None:
    rows = [bench("1 110")._replace(is_passed=True)] * 20 + [bench("0 001")] * 20
    rows += [bench("1 001")] * 4 + [bench("0 00.")] * 5
    found = jury_of(rows)

    assert found
    assert found.best == 0
    assert found.minus_best
    assert (found.minus_best.value, found.minus_best.n) == (0, 49)
    assert found.minus_best.low is not None
    assert found.minus_best.high is not None
    assert found.minus_best.low < 0 < found.minus_best.high


def test_responses_of_one_conversation_count_as_one() -> None:
    rows = [bench("1 110")._replace(is_passed=True), bench("0 001")] * 10
    together = jury_of([row._replace(group=f"talk {n // 10}") for n, row in enumerate(rows)])

    assert together
    assert together.minus_best
    assert together.minus_best.value == 0
    assert together.minus_best.low is None


def test_votes_that_err_together_are_worth_less() -> None:
    found = jury(*ROWS)

    # By hand over the eight that all have a score: errors a 3, b 3, c 2 of 8; both a and b err
    # twice, a and c never, b and c never.
    ab, ac = (2 - 9 / 8) / (3 * 5 / 8), (0 - 6 / 8) / (180**0.5 / 8)
    assert found.n == 8
    assert found.correlation == pytest.approx((ab + 2 * ac) / 3)
    # Errors that avoid each other do not make a jury worth more than its members.
    assert found.effective_votes == 3


@pytest.mark.parametrize(
    ("rows", "votes"),
    [
        (("1 111", "1 000", "0 000", "0 111"), 1.0),  # all err together: one vote
        (("1 111", "0 000"), None),  # nobody errs
        (("1 11.", "0 00."), None),  # one of them is never heard
    ],
)
def test_what_is_worth_how_many_votes(rows: tuple[str, ...], votes: float | None) -> None:
    assert jury(*rows).effective_votes == votes


def test_without_bad_answers_no_juror_is_the_best() -> None:
    assert jury("1 111", "1 110").best is None


def test_there_is_no_jury_where_none_sits_or_several_do() -> None:
    assert jury_of([]) is None
    assert jury_of([Bench(True, ()), Bench(False, ())]) is None
    assert jury_of([bench("1 111"), bench("0 000", (1, 1, 1))]) is None
