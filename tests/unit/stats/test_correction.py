# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false, reportCallIssue=false
"""Corrected rates: published values, coverage by simulation, and both sampling designs."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.model.validation import Counts
from steelyard.stats.confusion import rates_of
from steelyard.stats.correction import (
    PPI,
    PPI_PLUS,
    PPI_WEIGHTED,
    Labelled,
    NotCorrectableError,
    ppi,
    rogan_gladen,
)

TPR, TNR, LABELS, JUDGED, RUNS = 0.9, 0.8, 100, 1_000, 2_000


def drawn(chance, rate, size):
    """What people would say, and what the judge says."""
    truth = chance.random(size) < rate
    says_pass = np.where(truth, chance.random(size) < TPR, chance.random(size) >= TNR)
    return truth.astype(float), says_pass.astype(float)


def confusion_of(truth, said):
    return Counts(
        tp=int((truth * said).sum()),
        fn=int((truth * (1 - said)).sum()),
        tn=int(((1 - truth) * (1 - said)).sum()),
        fp=int(((1 - truth) * said).sum()),
    )


def test_rogan_gladen_is_the_published_one():
    found = rogan_gladen(Counts(tp=92, fn=8, tn=88, fp=12), 80, 100)
    assert found.value == pytest.approx(0.85)
    assert found.low < 0.85 < found.high
    assert (found.method, found.n) == ("rogan-gladen", 200)


def test_rates_of_a_judge_have_wilsons_interval():
    counts = Counts(tp=180, fn=20, tn=40, fp=0)
    rates = rates_of(counts)
    assert (rates.tpr.value, counts.n) == (0.9, 240)
    assert (rates.tpr.low, rates.tpr.high) == pytest.approx((0.851, 0.934), abs=5e-4)
    assert (rates.tnr.low, rates.tnr.high) == pytest.approx((0.912, 1), abs=5e-4)


@pytest.mark.parametrize(
    ("confusion", "passed", "judged", "said"),
    [
        (Counts(tp=5, fn=5, tn=5, fp=5), 50, 100, "not above 1"),
        (Counts(tn=5, fp=5), 50, 100, "nothing that passes"),
        (Counts(tp=5, fn=5), 50, 100, "nothing that fails"),
        (Counts(tp=9, fn=1, tn=9, fp=1), 0, 0, "nothing was judged"),
    ],
)
def test_what_cannot_be_corrected_is_refused(confusion, passed, judged, said):
    with pytest.raises(NotCorrectableError, match=said):
        rogan_gladen(confusion, passed, judged)


def test_a_rate_outside_is_clipped():
    sharp = Counts(tp=90, fn=10, tn=90, fp=10)
    assert rogan_gladen(sharp, 99, 100).value == 1
    assert rogan_gladen(sharp, 1, 100).value == 0


@pytest.mark.trials
def test_coverage_of_the_corrected_rates_is_what_they_claim():
    """2,000 seeded runs at θ .7: 95 % intervals must cover within 92 to 98 %."""
    chance = np.random.default_rng(1)
    covered = {"rogan_gladen": 0, "ppi": 0, "labels": 0}
    widths = {"ppi": 0.0, "labels": 0.0}
    for _ in range(RUNS):
        truth, said = drawn(chance, 0.7, LABELS)
        _, judged = drawn(chance, 0.7, JUDGED)
        labelled = Labelled(truth=truth, judged=said)
        corrected = rogan_gladen(confusion_of(truth, said), int(judged.sum()), JUDGED)
        powered = ppi(labelled, judged, are_among=False)
        alone = ppi(labelled, judged, are_among=False, tuning=0.0)
        for name, found in (("rogan_gladen", corrected), ("ppi", powered), ("labels", alone)):
            covered[name] += found.low <= 0.7 <= found.high
        widths["ppi"] += powered.high - powered.low
        widths["labels"] += alone.high - alone.low
    assert {name: 0.92 <= count / RUNS <= 0.98 for name, count in covered.items()} == {
        "rogan_gladen": True,
        "ppi": True,
        "labels": True,
    }
    assert widths["ppi"] < widths["labels"]


def test_coverage_holds_where_the_labelled_records_are_among_the_judged():
    chance = np.random.default_rng(2)
    covered, widths = 0, 0.0
    for _ in range(RUNS):
        truth, said = drawn(chance, 0.7, JUDGED)
        labelled = Labelled(truth=truth[:LABELS], judged=said[:LABELS])
        found = ppi(labelled, said)
        covered += found.low <= 0.7 <= found.high
        widths += found.high - found.low
    assert 0.92 <= covered / RUNS <= 0.98
    assert widths / RUNS < 0.16


def test_labels_balanced_by_what_people_say_are_for_rogan_gladen():
    chance = np.random.default_rng(3)
    found: list[float] = []
    for _ in range(300):
        truth, said = drawn(chance, 0.85, JUDGED)
        good, bad = np.flatnonzero(truth == 1)[:50], np.flatnonzero(truth == 0)[:50]
        chosen = np.concatenate([good, bad])
        confusion = confusion_of(truth[chosen], said[chosen])
        found.append(rogan_gladen(confusion, int(said.sum()), JUDGED).value)
    assert np.mean(found) == pytest.approx(0.85, abs=0.01)


def test_labels_balanced_by_the_judges_verdict_are_for_weights():
    chance = np.random.default_rng(4)
    weighted: list[float] = []
    plain: list[float] = []
    covered = 0
    for _ in range(600):
        truth, said = drawn(chance, 0.85, JUDGED)
        passes, fails = np.flatnonzero(said == 1), np.flatnonzero(said == 0)
        chosen = np.concatenate(
            [chance.choice(passes, 50, replace=False), chance.choice(fails, 50, replace=False)]
        )
        chances = np.where(said[chosen] == 1, 50 / len(passes), 50 / len(fails))
        labelled = Labelled(truth=truth[chosen], judged=said[chosen], inclusion=list(chances))
        found = ppi(labelled, said)
        weighted.append(found.value)
        covered += found.low <= 0.85 <= found.high
        unweighted = Labelled(truth=truth[chosen], judged=said[chosen])
        plain.append(ppi(unweighted, said, tuning=1.0).value)
    assert np.mean(weighted) == pytest.approx(0.85, abs=0.01)
    assert covered / 600 >= 0.92
    assert abs(np.mean(plain) - 0.85) > 0.05


@pytest.mark.parametrize(
    ("inclusion", "tuning", "method"),
    [
        (None, None, PPI_PLUS),
        ([0.5] * 20, None, PPI_PLUS),
        ([0.5] * 10 + [0.1] * 10, None, PPI_WEIGHTED),
        (None, 1.0, PPI),
    ],
)
def test_the_estimator_is_named(inclusion, tuning, method):
    labelled = Labelled(truth=[1, 0] * 10, judged=[1, 1] * 10, inclusion=inclusion)
    assert ppi(labelled, [1.0, 0.0] * 50, tuning=tuning).method == method


def test_plain_ppi_is_the_mean_and_the_mean_error():
    labelled = Labelled(truth=[1, 0, 1, 0, 1] * 4, judged=[1, 1, 1, 0, 1] * 4)
    found = ppi(labelled, [1.0] * 30 + [0.0] * 10, tuning=1.0)
    assert found.value == pytest.approx(0.75 - 0.2)


def test_a_judge_who_always_says_the_same_is_not_leaned_on():
    labelled = Labelled(truth=[1, 0] * 10, judged=[1.0] * 20)
    assert ppi(labelled, [1.0] * 100).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("labelled", "said"),
    [
        (Labelled(truth=[1.0] * 9, judged=[1.0] * 9), "too few"),
        (Labelled(truth=[1.0] * 10, judged=[1.0] * 10, inclusion=[0.0] * 10), "inclusion"),
        (Labelled(truth=[1.0] * 10, judged=[1.0] * 10, inclusion=[1.5] * 10), "inclusion"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(labelled, said):
    with pytest.raises(NotCorrectableError, match=said):
        ppi(labelled, [1.0] * 100)
