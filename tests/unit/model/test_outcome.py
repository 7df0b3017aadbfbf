"""What a check may find."""

from __future__ import annotations

import pytest

from steelyard.model.outcome import Outcome, OutcomeStatus


@pytest.mark.parametrize(
    ("outcome", "status", "passed", "score"),
    [
        (Outcome.passing("why"), "scored", True, 1.0),
        (Outcome.failing("why"), "scored", False, 0.0),
        (Outcome.skipped("why"), "skipped", None, None),
        (Outcome.unscored("why"), "unscored", None, None),
    ],
)
def test_only_a_scored_outcome_has_a_score_and_every_one_a_reason(
    outcome: Outcome, status: OutcomeStatus, passed: bool | None, score: float | None
) -> None:
    assert (outcome.status, outcome.passed, outcome.score) == (status, passed, score)
    assert outcome.reason == "why"
