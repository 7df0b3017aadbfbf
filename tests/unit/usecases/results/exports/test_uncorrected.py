"""Exports say where a rate is uncorrected."""

from __future__ import annotations

import msgspec
import pytest

from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.results.metrics import Metrics
from steelyard.usecases.results.exports.uncorrected import uncorrected

NEVER = CorrectedRate(judge="judge/a@1.0.0", reason="judge/a@1.0.0 has never been validated")
RATE = {"value": 1.0, "low": 0.2, "high": 1.0, "method": "wilson", "n": 1}
NUMBERS = {
    **dict.fromkeys(("total_records", "valid_records", "evaluated_records"), 1),
    **dict.fromkeys(("failed_records", "skipped_records", "unscored_count", "fail_count"), 0),
    **dict.fromkeys(("pass_count", "attempts"), 1),
    "pass_rate": RATE,
    "score": RATE,
    "checks": {},
}


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (None, {}),
        (NEVER, {"uncorrected": "judge/a@1.0.0 has never been validated"}),
        (CorrectedRate(judge="judge/a@1.0.0", value=0.5, low=0.4, high=0.6), {}),
    ],
)
def test_a_rate_of_a_judge_that_was_not_validated_says_so(
    rate: CorrectedRate | None, said: dict[str, str]
) -> None:
    metrics = msgspec.structs.replace(msgspec.convert(NUMBERS, Metrics), corrected_pass_rate=rate)

    assert uncorrected(metrics) == said
