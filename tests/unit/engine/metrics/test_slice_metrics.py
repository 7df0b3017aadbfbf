"""Slices against the rest, and scores that are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.results.facts import Facts
from steelyard.stats.tables import independence
from strategies.run_facts import facts


def records(
    slices: Mapping[Any, Sequence[bool | None]], talk: int = 0, repeats: int = 1
) -> list[Facts]:
    """The records of slices, `talk` of them to a conversation where that is above 0."""
    flat = [(value, passed) for value, outcomes in slices.items() for passed in outcomes]
    return [
        facts(
            index,
            passed=passed,
            repeat=repeat,
            slices=(("tags", value),),
            cluster=f"talk {index // talk}" if talk else None,
        )
        for index, (value, passed) in enumerate(flat)
        for repeat in range(repeats)
    ]


def found(given: list[Facts]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    summary, slices = metrics_of(given)
    return summary.json(), [one.json() for one in slices]


def test_a_slice_that_differs_from_the_rest_has_a_small_p_value() -> None:
    given = records({"fees": [True] * 5 + [False] * 15, "loans": [True] * 80})
    summary, (weak, other) = found(given)

    assert weak["p_value"] == other["p_value"] == independence(5, 15, 80, 0)
    assert weak["adjusted_p"] < 1e-6
    assert summary["missing"] == {"missing": 0, "valid": 100, "uneven_slices": []}


def test_the_more_slices_the_less_a_single_one_says() -> None:
    given = records({str(n): [n % 2 == 0] * 2 + [True] * 5 for n in range(10)})

    assert all(row["adjusted_p"] >= row["p_value"] for row in found(given)[1])


def test_conversations_are_the_evidence_of_a_slice() -> None:
    weak = [False] * 15 + [True] * 5
    alone = found(records({"fees": weak, "loans": [True] * 80}))[1][0]
    talks = found(records({"fees": weak, "loans": [True] * 80}, talk=5))[1][0]

    assert alone["p_value"] < 1e-6
    assert 0.05 < talks["p_value"] < 0.2


def test_many_conversations_that_fail_show_a_weak_slice() -> None:
    given = records({"fees": [False] * 60 + [True] * 40, "loans": [True] * 150}, talk=5)

    assert found(given)[1][0]["adjusted_p"] < 0.001


def test_repeats_have_a_p_value_and_add_no_evidence() -> None:
    slices: dict[str, list[bool]] = {
        "fees": [False] * 6 + [True] * 14,
        "loans": [True] * 78 + [False] * 2,
    }
    once = found(records(slices, repeats=1))[1][0]
    thrice = found(records(slices, repeats=3))[1][0]

    assert thrice["p_value"] == pytest.approx(once["p_value"])


def test_records_without_the_slice_are_no_slice() -> None:
    assert found(records({None: [True, False]}))[1][0]["p_value"] is None


def test_scores_that_are_missing_unevenly_are_named() -> None:
    given = records({"fees": [True] * 5 + [None] * 15, "x": [True] * 75 + [None] * 5})
    missing = found(given)[0]["missing"]

    assert (missing["missing"], missing["valid"]) == (20, 100)
    assert [row["value"] for row in missing["uneven_slices"]] == ["fees", "x"]
    assert missing["uneven_slices"][0]["missing"] == 15


def test_one_conversation_without_scores_is_no_pattern() -> None:
    slices: dict[str, list[bool | None]] = {"fees": [None] * 5, "x": [True] * 75}
    invalid = facts(80, status="invalid_record", slices=(("tags", "fees"),))
    alone = found([*records(slices), invalid])[0]["missing"]
    talk = found([*records(slices, talk=5), invalid])[0]["missing"]

    assert [row["value"] for row in alone["uneven_slices"]] == ["fees", "x"]
    assert (talk["missing"], talk["valid"], talk["uneven_slices"]) == (5, 80, [])
