# pyright: basic
"""Several tries of one case: pass@k, pass^k, bounds, and where the noise is."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from steelyard.stats.repeats import Tries, Way, chosen_ks, noise_of, pass_k

WAYS: tuple[Way, Way] = ("pass_at_k", "pass_hat_k")
Counts = dict[tuple[int, int], int]


def tries(counts: Counts, planned: int, unscored: int = 0) -> Tries:
    cases = [case for case, times in counts.items() for _ in range(times)]
    passes, scored = np.array(cases).reshape(-1, 2).T
    return Tries(passes, scored, planned, unscored)


@pytest.mark.parametrize(
    ("counts", "k", "at_least_one", "all_of_them"),
    [
        ({(1, 2): 1}, 1, 0.5, 0.5),
        ({(1, 2): 1}, 2, 1.0, 0.0),
        ({(2, 4): 3}, 2, 1 - 1 / 6, 1 / 6),
        ({(0, 3): 40, (3, 3): 40}, 2, 0.5, 0.5),
    ],
)
def test_tries_of_one_case(
    counts: Counts, k: int, at_least_one: float, all_of_them: float
) -> None:
    found = tries(counts, planned=4)

    assert pass_k(found, k, "pass_at_k").interval.value == pytest.approx(at_least_one)
    assert pass_k(found, k, "pass_hat_k").interval.value == pytest.approx(all_of_them)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_the_share_is_that_of_all_choices_of_k_tries(outcomes: list[bool], k: int) -> None:
    found = tries({(sum(outcomes), len(outcomes)): 1}, planned=7)
    chosen = list(combinations(outcomes, k))

    if chosen:
        at_least_one, all_of_them = (sum(map(way, chosen)) / len(chosen) for way in (any, all))
        assert pass_k(found, k, "pass_at_k").interval.value == pytest.approx(at_least_one)
        assert pass_k(found, k, "pass_hat_k").interval.value == pytest.approx(all_of_them)


def mean_of(cases: list[tuple[bool, ...]], k: int, way: Way) -> float:
    """The share of the choices of k tries, over cases of which every try has a score."""
    holds = any if way == "pass_at_k" else all
    shares = [[holds(chosen) for chosen in combinations(case, k)] for case in cases]
    return sum(sum(each) / len(each) for each in shares) / len(shares)


def test_missing_tries_are_filled_with_fails_and_with_passes() -> None:
    """One case passed 3 of 3; one passed its only try of 3; one has no score at all."""
    found = tries({(3, 3): 1, (1, 1): 1}, planned=3, unscored=1)
    every, some = pass_k(found, 3, "pass_hat_k"), pass_k(found, 3, "pass_at_k")

    assert (every.interval.value, every.interval.n) == (1.0, 1)
    assert (every.low, every.high) == (1 / 3, 1.0)
    assert (some.low, some.high) == (2 / 3, 1.0)


def test_a_case_with_enough_tries_for_k_is_filled_where_one_is_missing() -> None:
    """A pass, a fail and a timeout: of two tries of three, one passes in two or three of three."""
    found = tries({(1, 2): 1}, planned=3)
    some, every = pass_k(found, 2, "pass_at_k"), pass_k(found, 2, "pass_hat_k")

    assert (some.interval.value, some.low, some.high) == (1.0, pytest.approx(2 / 3), 1.0)
    assert (every.interval.value, every.low, every.high) == (0.0, 0.0, pytest.approx(1 / 3))
    single = pass_k(found, 1, "pass_at_k")
    assert (single.low, single.high) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


@given(
    st.lists(
        st.lists(st.sampled_from((True, False, None)), min_size=3, max_size=3),
        min_size=1,
        max_size=3,
    ),
    st.integers(1, 3),
    st.sampled_from(WAYS),
)
def test_bounds_are_the_ends_of_all_that_missing_tries_could_have_been(
    cases: list[list[bool | None]], k: int, way: Way
) -> None:
    truths = [mean_of(list(filled), k, way) for filled in product(*map(_fills, cases))]
    scored = [[one for one in case if one is not None] for case in cases]
    seen = [(sum(case), len(case)) for case in scored if case]
    passes, n = np.array(seen, dtype=np.int64).reshape(-1, 2).T
    found = pass_k(Tries(passes, n, 3, len(cases) - len(seen)), k, way)
    value, low, high = found.interval.value, found.interval.low, found.interval.high

    if len(truths) == 1:
        assert (found.low, found.high) == (None, None)
        assert value == pytest.approx(truths[0])
        return
    assert (found.low, found.high) == (pytest.approx(min(truths)), pytest.approx(max(truths)))
    if min(truths) == max(truths):
        assert value == pytest.approx(truths[0])
    if value is not None:
        assert min(truths) - 1e-9 <= value <= max(truths) + 1e-9
    is_open = any(
        len(one) < k and len({mean_of([filled], k, way) for filled in _fills(case)}) > 1
        for one, case in zip(scored, cases, strict=True)
    )
    if is_open and low is not None and high is not None:
        assert low <= min(truths) + 1e-9
        assert high >= max(truths) - 1e-9


def _fills(case: list[bool | None]) -> list[tuple[bool, ...]]:
    return list(product(*((True, False) if one is None else (one,) for one in case)))


def test_cases_that_are_settled_count_though_they_lack_tries() -> None:
    """Two cases pass all three; two failed once, which settles that not all of three pass."""
    found = pass_k(tries({(3, 3): 2, (0, 1): 2}, planned=3), 3, "pass_hat_k")

    assert (found.interval.value, found.interval.n) == (0.5, 4)
    assert (found.low, found.high) == (0.5, 0.5)


def test_settled_cases_alone_would_be_a_biased_choice() -> None:
    """Of ten cases that lack a try, the five with a pass are settled and the others are open."""
    found = pass_k(tries({(1, 3): 5, (0, 3): 5, (1, 2): 5, (0, 2): 5}, 3), 3, "pass_at_k")

    assert (found.interval.value, found.interval.n) == (0.5, 10)
    assert found.interval.method.endswith("widened to the bounds")
    assert (found.low, found.high) == (0.5, 0.75)
    assert found.interval.high is not None
    assert found.interval.high >= 0.75


def test_an_interval_has_a_width_where_all_cases_agree() -> None:
    found = pass_k(tries({(3, 3): 20}, planned=3), 3, "pass_hat_k").interval

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.839, abs=0.001)


@pytest.mark.parametrize(
    ("planned", "ks"),
    [
        (1, [1]),
        (3, [1, 2, 3]),
        (10, list(range(1, 11))),
        (12, [1, 2, 5, 10, 12]),
        (100, [1, 2, 5, 10, 20, 50, 100]),
    ],
)
def test_few_k_are_all_reported_and_many_in_steps(planned: int, ks: list[int]) -> None:
    assert chosen_ks(planned) == ks


def test_noise_is_that_of_one_way_anova() -> None:
    chance = np.random.default_rng(3)
    groups = [chance.normal(mean, 1.0, 4) for mean in chance.normal(0, 2, 30)]
    means, n = np.array([group.mean() for group in groups]), np.full(30, 4.0)
    within = float(sum(((group - group.mean()) ** 2).sum() for group in groups))
    noise = noise_of(means, n, within)

    assert noise is not None
    ratio = 1 + 4 * noise.between_records / noise.between_repeats
    assert ratio == pytest.approx(oracle.f_oneway(*groups).statistic)
    assert noise.records_share == pytest.approx(0.8, abs=0.1)


def test_noise_of_passes_needs_no_squares() -> None:
    means, n = np.array([0.5, 1.0, 0.0, 0.5]), np.full(4, 2.0)

    assert noise_of(means, n) == noise_of(means, n, within=1.0)


def test_noise_cannot_be_known_from_single_tries_or_a_single_record() -> None:
    assert noise_of(np.array([1.0, 0.0]), np.ones(2)) is None
    assert noise_of(np.array([0.5]), np.array([4.0])) is None


def test_twice_the_repeats_narrow_what_is_between_repeats() -> None:
    coins = noise_of(np.full(20, 0.5), np.full(20, 2.0))
    sure = noise_of(np.array([0.0, 1.0] * 10), np.full(20, 2.0))

    assert coins is not None
    assert sure is not None
    assert coins.narrowing(2) == pytest.approx(1 - 0.5**0.5)
    assert sure.narrowing(2) == 0
    assert noise_of(np.ones(20), np.full(20, 2.0)) == (0.0, 0.0)
