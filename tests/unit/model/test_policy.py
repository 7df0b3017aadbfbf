"""Which judge a policy means, and what becomes of its verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.model.policy import Policy


@pytest.mark.parametrize(
    ("judge", "aggregation", "of_criteria", "of_references"),
    [
        ("default", "default", "criterion", "reference"),
        ("none", "choice", "criterion", "reference"),
        ("mine", "default", "mine", "mine"),
        # made for criteria, or for references: rows of the other sort have the usual judge
        ("mine", "points_over_maximum", "mine", "reference"),
        ("mine", "share_met", "mine", "reference"),
        ("mine", "score", "criterion", "mine"),
        ("mine", "choice", "criterion", "reference"),
    ],
)
def test_a_policy_names_the_judge_of_what_it_is_made_for(
    judge: str, aggregation: Any, of_criteria: str, of_references: str
) -> None:
    """LE-50"""
    policy = Policy(id="p", description="", user=(), judge=judge, aggregation=aggregation)

    assert (policy.criteria_judge, policy.reference_judge) == (of_criteria, of_references)


@pytest.mark.parametrize(
    ("aggregation", "of_criteria"),
    [
        ("default", "points_over_maximum"),
        ("points_over_maximum", "points_over_maximum"),
        ("share_met", "share_met"),
        ("score", "points_over_maximum"),
        ("choice", "points_over_maximum"),
    ],
)
def test_a_policy_says_what_criteria_come_to(aggregation: Any, of_criteria: str) -> None:
    """LE-50"""
    policy = Policy(id="p", description="", user=(), aggregation=aggregation)

    assert policy.criteria_aggregation == of_criteria
