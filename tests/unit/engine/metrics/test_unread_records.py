"""Records without a row are in the denominators and in the bounds."""

from __future__ import annotations

import pytest

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.engine.metrics.unread_records import PlannedRecords, with_unread
from steelyard.results.facts import Facts
from steelyard.results.metrics import Bounds, Metrics, Slice
from strategies.run_facts import facts

TWENTY_FIVE = [
    facts(0, status="invalid_record", attempts=0),
    *(facts(n, passed=n > 4, slices=(("tags", "a"),)) for n in range(1, 25)),
]


def measured(given: list[Facts], planned: PlannedRecords) -> tuple[Metrics, list[Slice]]:
    metrics, slices = metrics_of(given, planned.extent)
    return with_unread(metrics, planned), slices


def counts(metrics: Metrics) -> dict[str, int]:
    names = ("total", "valid", "evaluated", "failed", "invalid", "skipped", "cancelled")
    return {name: getattr(metrics, f"{name}_records") for name in names}


def test_what_has_no_row_was_cancelled() -> None:
    found, _ = measured(TWENTY_FIVE, PlannedRecords(100, 99))

    assert counts(found) == {
        "total": 100,
        "valid": 99,
        "evaluated": 24,
        "failed": 1,
        "invalid": 1,
        "skipped": 75,
        "cancelled": 75,
    }
    assert (found.unread_records, found.rows, found.failure_rows) == (75, 25, 1)
    assert (found.missing.missing, found.missing.valid) == (75, 99)
    assert found.pass_rate_bounds == Bounds(low=0.20, high=0.96)
    assert (found.pass_rate.n, found.pass_count) == (24, 20)


def test_invalid_records_that_have_no_row_stay_invalid() -> None:
    found, _ = measured(TWENTY_FIVE, PlannedRecords(100, 90))

    assert counts(found) == {
        "total": 100,
        "valid": 90,
        "evaluated": 24,
        "failed": 10,
        "invalid": 10,
        "skipped": 66,
        "cancelled": 66,
    }
    assert (found.missing.missing, found.missing.valid) == (66, 90)


def test_a_run_of_an_earlier_version_knows_no_valid_records() -> None:
    found, _ = measured(TWENTY_FIVE, PlannedRecords(100))

    assert (found.valid_records, found.cancelled_records, found.invalid_records) == (99, 75, 1)


def test_a_run_without_any_row_has_bounds() -> None:
    found, _ = measured([], PlannedRecords(3, 2, repeats=2))

    assert counts(found) == {
        "total": 3,
        "valid": 2,
        "evaluated": 0,
        "failed": 1,
        "invalid": 1,
        "skipped": 2,
        "cancelled": 2,
    }
    assert found.pass_rate_bounds == Bounds(low=0, high=1)
    assert found.pass_rate.value is None


def test_repeats_that_were_not_made_count_too() -> None:
    """One of four tries was made: three of its record, and four of the other, are missing."""
    found, _ = measured([facts(0, passed=True)], PlannedRecords(2, 2, repeats=4))
    repeats = found.repeats

    assert found.unscored_repeats == 3
    assert found.pass_rate_bounds == Bounds(low=1 / 8, high=1)
    assert repeats
    assert repeats.k == 4
    assert repeats.pass_hat_k.bounds == Bounds(low=0, high=1)


def test_a_slice_may_have_any_of_them_and_has_no_bounds() -> None:
    _, known = measured(TWENTY_FIVE, PlannedRecords(25, 24))
    _, unknown = measured(TWENTY_FIVE, PlannedRecords(26, 25))

    assert [one.pass_rate_bounds is None for one in known] == [False]
    assert [one.pass_rate_bounds is None for one in unknown] == [True]


@pytest.mark.parametrize("planned", [PlannedRecords(), PlannedRecords(25, 24)])
def test_a_run_with_all_of_its_rows_is_as_it_is(planned: PlannedRecords) -> None:
    whole = metrics_of(TWENTY_FIVE)[0]
    found, _ = measured(TWENTY_FIVE, planned)

    assert counts(found) == counts(whole)
    assert found.pass_rate_bounds == whole.pass_rate_bounds
    assert found.missing == whole.missing
