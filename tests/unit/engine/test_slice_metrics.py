# pyright: basic
"""Slices are told from the rest, missing scores too, and tries of one case are counted."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.engine.slice_metrics import repeats_row, tell_apart


def counts(passed: int, evaluated: int, valid: int | None = None, **other: Any) -> dict[str, Any]:
    valid = evaluated if valid is None else valid
    row = {"pass_count": passed, "evaluated_records": evaluated, "valid_records": valid}
    return {**row, "slice": "tags", **other}


def test_a_slice_that_differs_from_the_rest_is_told_apart():
    whole = counts(85, 100)
    weak, other = counts(5, 20, value="fees"), counts(80, 80, value="loans")
    tell_apart(whole, [weak, other], is_grouped=False)

    assert weak["adjusted_p"] < 1e-6
    assert weak["p_value"] == pytest.approx(other["p_value"])
    assert whole["missing"] == {"missing": 0, "valid": 100, "uneven_slices": []}


def test_the_more_slices_the_less_a_single_one_says():
    whole = counts(50, 100)
    slices = [counts(1, 7, value=str(n)) for n in range(10)]
    tell_apart(whole, slices, is_grouped=False)

    assert all(row["adjusted_p"] >= row["p_value"] for row in slices)


def test_records_that_are_alike_have_no_p_value():
    row = counts(5, 20, value="fees")
    tell_apart(counts(85, 100), [row], is_grouped=True)

    assert (row["p_value"], row["adjusted_p"]) == (None, None)


def test_records_without_the_slice_are_no_slice():
    row = counts(5, 20, value=None)
    tell_apart(counts(85, 100), [row], is_grouped=False)

    assert row["p_value"] is None


def test_scores_that_are_missing_unevenly_are_named():
    whole = counts(70, 80, 100)
    tell_apart(
        whole, [counts(5, 5, 20, value="fees"), counts(65, 75, 80, value="x")], is_grouped=False
    )

    assert whole["missing"]["missing"] == 20
    assert [row["value"] for row in whole["missing"]["uneven_slices"]] == ["fees", "x"]
    assert whole["missing"]["uneven_slices"][0]["missing"] == 15


def test_tries_of_one_case():
    assert repeats_row({}) is None
    row: Any = repeats_row({(2, 2): 3, (1, 2): 1, (0, 1): 1})
    assert row["k"] == 2
    assert (row["pass_at_k"]["value"], row["pass_at_k"]["n"]) == (1.0, 4)
    assert row["pass_hat_k"]["value"] == 0.75
