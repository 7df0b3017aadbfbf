"""What has no score is counted once, and as the bounds of the pass rate count it."""

from __future__ import annotations

import pytest

from steelyard.reports.run.missing_scores import without_score_text
from steelyard.reports.run.run_summary import summary_of
from steelyard.reports.run.run_text import bounds_of_run
from strategies.run_facts import facts
from strategies.run_views import run_view


@pytest.mark.parametrize(
    ("failed", "invalid", "said"),
    [
        (0, 0, ""),
        (1, 0, "the record without a score"),
        (0, 1, "the record without a score (1 invalid)"),
        (24, 6, "all 30 records without a score (6 invalid)"),
    ],
)
def test_number_words_and_bounds_agree(failed: int, invalid: int, said: str) -> None:
    rows = [facts(index, passed=True) for index in range(30)]
    rows += [facts(30 + index, passed=None) for index in range(failed)]
    rows += [facts(60 + index, passed=None, status="invalid_record") for index in range(invalid)]
    view = run_view(rows)
    bounds = view.metrics.pass_rate_bounds

    assert without_score_text(view.metrics) == said
    assert bounds is not None
    assert bounds.low == pytest.approx(30 / (30 + failed + invalid))
    assert (f"if {said} had failed or passed" in bounds_of_run(view.metrics)) == bool(said)
    names = [row.name for row in summary_of(view).rates]
    assert (f"Were {said} a fail or a pass" in names) == bool(said)
