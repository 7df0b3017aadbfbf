"""TPR and TNR of labels that were chosen with unequal chances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fakes.validations import a_validation, an_item
from steelyard.model.statistics.validation import Counts, LabelledItem
from steelyard.stats.confusion import (
    balanced_accuracy,
    differing_rates,
    item_clusters,
    known_rates,
    rates_by_chance,
    rates_by_run,
    rates_of,
    rates_of_items,
    validated_rates,
)
from strategies.effort import examples


def items(**numbers: int) -> tuple[LabelledItem, ...]:
    """So many of each cell; what the judge passes was chosen with 0.2, the rest with 0.5."""
    cells = {"tp": (True, True), "fn": (True, False), "tn": (False, False), "fp": (False, True)}
    made = [cells[name] for name, number in numbers.items() for _ in range(number)]
    return tuple(
        an_item(place, is_good=good, is_passed=passed, inclusion_prob=0.2 if passed else 0.5)
        for place, (good, passed) in enumerate(made)
    )


def test_labels_chosen_by_the_judge_count_by_their_chances() -> None:
    found = rates_by_chance(a_validation(design=None, items=items(tp=16, fn=4, tn=43, fp=6)))

    assert found
    tpr, tnr = found
    # 16 labels stand for 80 responses and 4 for 8; 43 for 86 and 6 for 30.
    assert (tpr.value, tpr.n) == (pytest.approx(80 / 88), 20)
    assert (tnr.value, tnr.n) == (pytest.approx(86 / 116), 49)
    assert tpr.low is not None
    assert tpr.high is not None
    assert 0.7 < tpr.low < 0.83
    assert 0.93 < tpr.high < 0.98
    assert tnr.method == "jeffreys by verdict with inverse-probability weights"


def test_a_verdict_without_a_bad_label_leaves_open_how_many_it_has() -> None:
    tnr = known_rates(a_validation(design=None, items=passes_and_fails(20, 0, 12, 8))).tnr

    # All 8 bad labels fail, and stand for 16 responses; the 20 passes stand for 360.
    assert (tnr.value, tnr.n) == (1, 8)
    assert tnr.low is not None
    assert tnr.low < 0.4
    assert tnr.n_effective is not None
    assert tnr.n_effective < 5


def passes_and_fails(tp: int, fp: int, fn: int, tn: int) -> tuple[LabelledItem, ...]:
    """Labels of a queue of 20 passes out of 360, and 20 fails out of 40."""
    cells = [(True, True)] * tp + [(False, True)] * fp + [(True, False)] * fn
    cells += [(False, False)] * tn
    return tuple(
        an_item(place, is_good=good, is_passed=passed, inclusion_prob=20 / (360 if passed else 40))
        for place, (good, passed) in enumerate(cells)
    )


def test_by_verdict_the_intervals_of_a_weak_judge_hold_the_truth() -> None:
    """400 responses, 90 % good, TPR .944, TNR .395, 20 labels of each verdict."""
    chance = np.random.default_rng(7)
    worlds, held = examples(150), np.zeros(2)
    for _ in range(worlds):
        good = chance.random(400) < 0.9
        passed = chance.random(400) < np.where(good, 0.944, 1 - 0.395)
        cells: list[LabelledItem] = []
        for verdict in (True, False):
            these = np.flatnonzero(passed == verdict)
            cells.extend(
                an_item(
                    at, is_good=bool(good[at]), is_passed=verdict, inclusion_prob=20 / len(these)
                )
                for at in chance.choice(these, 20, replace=False).tolist()
            )
        found = known_rates(a_validation(design=None, items=tuple(cells)))
        for place, truth in enumerate((0.944, 0.395)):
            low, high = found[place].low, found[place].high
            held[place] += low is not None and high is not None and low <= truth <= high

    assert (held / worlds >= 0.92 - 3 * (0.92 * 0.08 / worlds) ** 0.5).all()


@pytest.mark.parametrize(
    "more",
    [
        {"design": "by_label", "items": items(tp=2, fn=1, tn=1, fp=1)},
        {"items": items(tp=2, fp=1)},  # one chance for all
        {"items": (an_item(0), an_item(1, inclusion_prob=0.5))},  # not known of all
        {"items": ()},
    ],
)
def test_the_plain_rates_are_right_where_chances_do_not_differ(more: dict[str, Any]) -> None:
    assert rates_by_chance(a_validation(**more)) is None


def test_a_rate_of_nothing_is_not_known() -> None:
    found = rates_by_chance(a_validation(items=items(tp=2, fn=1)))

    assert found
    assert (found[1].value, found[1].n) == (None, 0)


def test_balanced_accuracy_is_the_mean_of_both_rates() -> None:
    assert balanced_accuracy(rates_of(Counts(tp=9, fn=1, tn=7, fp=3))) == pytest.approx(0.8)
    assert balanced_accuracy(rates_of(Counts(tp=9, fn=1))) is None


def test_labels_of_one_conversation_or_record_are_one_cluster() -> None:
    some = (
        an_item(0, cluster="a"),
        an_item(1, cluster="a"),
        an_item(2),
        an_item(2, repeat=1),
        an_item(2, run_id="run_2"),
    )

    assert item_clusters(some) == [0, 0, 2, 2, 4]


def test_repeats_of_a_record_widen_the_interval_of_its_rates() -> None:
    single = [an_item(n, is_passed=n % 4 > 0) for n in range(60)]
    thrice = [an_item(n // 3, repeat=n % 3, is_passed=n // 3 % 4 > 0) for n in range(60)]
    plain, grouped = rates_of_items(single).tpr, rates_of_items(thrice).tpr

    assert plain == rates_of(Counts(tp=45, fn=15)).tpr
    assert (grouped.n, grouped.clusters) == (60, 20)
    assert grouped.n_effective is not None
    assert grouped.n_effective <= 20


def test_a_validation_without_items_has_the_rates_of_its_counts() -> None:
    counts = Counts(tp=9, fn=1, tn=7, fp=3)

    assert validated_rates(a_validation(counts=counts)) == rates_of(counts)


def of_runs(*bad: tuple[int, int]) -> tuple[LabelledItem, ...]:
    """Runs with 40 good answers that pass, and so many bad ones that fail and pass."""
    return tuple(
        an_item(place, run_id=f"run_{run}", is_good=good, is_passed=passed)
        for run, (failed, fooled) in enumerate(bad)
        for place, (good, passed) in enumerate(
            [(True, True)] * 40 + [(False, False)] * failed + [(False, True)] * fooled
        )
    )


@pytest.mark.parametrize(
    ("bad", "differs"),
    [
        (((40, 10),), False),
        (((40, 10), (38, 12)), False),
        (((40, 10), (10, 40)), True),
        (((4, 0), (0, 4)), False),  # too few to know
        (((40, 10), (38, 12), (10, 40)), True),
    ],
)
def test_runs_whose_labels_differ_have_no_rate_in_common(
    bad: tuple[tuple[int, int], ...], differs: bool
) -> None:
    found = a_validation(items=of_runs(*bad))

    assert list(differing_rates(found)) == ["TNR"] * differs
    assert (known_rates(found).tnr.value is None) is differs
    assert known_rates(found).tpr.value == 1
    assert len(rates_by_run(found)) == (0 if len(bad) == 1 else len(bad))
