"""Several tries of one case: at least one pass, all passes, and where the noise is."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.results.facts import Facts
from strategies.run_facts import facts

Tries = tuple[bool | None, ...]


def tried(*cases: Tries, **others: Any) -> list[Facts]:
    return [
        facts(index, passed=passed, repeat=repeat, **others)
        for index, case in enumerate(cases)
        for repeat, passed in enumerate(case)
    ]


def repeats(*cases: Tries) -> dict[str, Any]:
    found: Any = metrics_of(tried(*cases))[0].json()["repeats"]
    return found


def test_without_repeats_there_is_nothing_to_say() -> None:
    assert metrics_of(tried((True,), (False,)))[0].repeats is None


def test_every_k_is_reported_and_the_largest_first() -> None:
    row = repeats((True, True, False), (True, True, True))

    assert [one["k"] for one in row["by_k"]] == [1, 2, 3]
    assert row["k"] == 3
    assert row["pass_hat_k"] == row["by_k"][-1]["pass_hat_k"]
    assert [one["pass_hat_k"]["value"] for one in row["by_k"]] == pytest.approx(
        [(2 / 3 + 1) / 2, (1 / 3 + 1) / 2, 0.5]
    )
    assert [one["pass_at_k"]["value"] for one in row["by_k"]] == pytest.approx([5 / 6, 1.0, 1.0])


def test_a_case_that_lacks_tries_is_bounded_and_not_dropped() -> None:
    row = repeats((True, True, True), (False, None, None), (None, None, None), (True, True, None))

    # the one case with three tries passes all of them, which not even the bounds allow
    assert (row["pass_hat_k"]["value"], row["pass_hat_k"]["n"]) == (None, 1)
    assert row["pass_hat_k"]["bounds"] == {"low": 0.25, "high": 0.75}
    assert row["pass_at_k"]["bounds"] == {"low": 0.5, "high": 1.0}
    assert row["by_k"][0]["pass_at_k"]["bounds"]["low"] == pytest.approx((1 + 2 / 3) / 4)
    assert row["by_k"][0]["pass_at_k"]["bounds"]["high"] == pytest.approx((3 + 2 / 3) / 4)


def test_where_no_case_lacks_a_try_there_are_no_bounds() -> None:
    row = repeats((True, True), (False, True))

    assert row["pass_at_k"]["bounds"] is None


def test_no_interval_has_width_zero() -> None:
    row = repeats((True, True, True))

    for one in (row["pass_at_k"], row["pass_hat_k"]):
        assert one["low"] < one["value"] == one["high"] == 1.0


def test_the_cases_of_a_conversation_count_as_one() -> None:
    given = tried(*[(True, True)] * 8, *[(False, False)] * 2, cluster="talk")
    found: Any = metrics_of(given)[0].json()["repeats"]

    assert found["pass_hat_k"]["clusters"] == 1


def test_noise_is_between_repeats_where_every_case_flips_a_coin() -> None:
    row = repeats(*[(True, False)] * 30)["variance"]

    assert (row["between_records"], row["between_repeats"]) == (0.0, 1.0)
    assert row["twice_the_repeats"] == pytest.approx(1 - 0.5**0.5)
    assert row["score"] == {"between_records": 0.0, "between_repeats": 1.0}


def test_noise_is_between_records_where_repeats_agree() -> None:
    row = repeats(*[(True, True)] * 7, *[(False, False)] * 3)["variance"]

    assert (row["between_records"], row["twice_the_repeats"]) == (1.0, 0.0)


def test_where_nothing_varies_nothing_is_said_about_noise() -> None:
    assert repeats((True, True), (True, True))["variance"] is None
    assert repeats((True, None), (True, None))["variance"] is None
