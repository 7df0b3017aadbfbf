"""How many labels a wanted precision needs."""

from __future__ import annotations

import pytest

from steelyard.review.label_precision import label_precision
from steelyard.stats.intervals import wilson


@pytest.mark.parametrize("half_width", [0.05, 0.1])
def test_the_labels_that_are_needed_give_the_interval_that_is_wanted(half_width: float) -> None:
    found = label_precision([0.1] * 50, records=500)
    needed = {one.half_width: one.labels for one in found.needed}[half_width]
    low, high = (
        interval.high - interval.low
        for interval in (wilson(needed / 2, needed), wilson((needed - 1) / 2, needed - 1))
        if interval.high is not None and interval.low is not None
    )

    assert low / 2 <= half_width < high / 2


def test_a_sample_with_equal_chances_is_worth_its_size() -> None:
    found = label_precision([0.2] * 93, records=465)

    assert found.effective == pytest.approx(93)
    assert found.half_width == pytest.approx(0.0996, abs=1e-4)
    assert (found.labels, found.records) == (93, 465)


def test_unequal_chances_need_more_labels() -> None:
    equal = label_precision([0.5] * 20, records=40)
    unequal = label_precision([0.9] * 10 + [0.1] * 10, records=110)

    assert unequal.effective == pytest.approx((10 / 0.9 + 100) ** 2 / (10 / 0.81 + 1000))
    assert unequal.half_width > equal.half_width
    assert unequal.needed[0].labels > equal.needed[0].labels
