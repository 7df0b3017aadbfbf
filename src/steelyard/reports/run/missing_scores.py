"""What has no score in a run, in words; everything that its bounds count."""

from __future__ import annotations

from steelyard.reports.numbers import count, counted
from steelyard.results.metrics import Summary


def records_without_score(metrics: Summary) -> int:
    """Records without a score, whatever became of them: the bounds of the pass rate count all."""
    return metrics.total_records - metrics.evaluated_records


def without_score_text(metrics: Summary) -> str:
    """All that has no score, such as `all 30 records without a score (6 invalid)`.

    Of records with repeats, also the tries that have none. Empty where everything has a score.
    """
    records, tries = records_without_score(metrics), metrics.unscored_repeats
    parts = [counted(records, "record")] if records else []
    parts += [f"{count(tries)} {'try' if tries == 1 else 'tries'}"] if tries else []
    if not parts:
        return ""
    what = " and ".join(parts)
    which = f"the {what.removeprefix('1 ')}" if records + tries == 1 else f"all {what}"
    invalid = f" ({count(metrics.invalid_records)} invalid)" if metrics.invalid_records else ""
    return f"{which} without a score{invalid}"
