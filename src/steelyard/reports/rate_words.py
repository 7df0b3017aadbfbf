"""The result of a run as a sentence of counts that everybody can read."""

from __future__ import annotations

from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.reports.numbers import Estimated, count, counted
from steelyard.results.metrics import Metrics


def say_rate(metrics: Metrics) -> str:
    """What the rate of a run says of a hundred answers, and how far it can be trusted."""
    raw, corrected = metrics.pass_rate, metrics.corrected_pass_rate
    if raw.value is None:
        return "No record has a score, so there is no pass rate."
    if corrected and corrected.is_corrected:
        return _say_corrected(corrected)
    verb = "passes" if metrics.evaluated_records == 1 else "pass"
    passed = f"{_passed(metrics)} {verb}"
    if corrected:
        return f"{passed} {graded_by(corrected)}. No labels of people correct this rate."
    if raw.low is None or raw.high is None:
        return f"{passed}. They are too few to say what other answers would do."
    return f"{passed}. Of answers like these, anything from {_ends(raw)} of 100 may pass."


def say_canaries(metrics: Metrics) -> str:
    """What judges did with answers that they must fail; a pass there is no merit of a target."""
    scored, all_of_them = metrics.evaluated_records, metrics.total_records
    if not scored:
        return f"canaries: none of {counted(all_of_them, 'answer')} that must fail has a score"
    verb = "was" if metrics.pass_count == 1 else "were"
    answers = "answer" if scored == 1 else "answers"
    passed = f"{count(metrics.pass_count)} of {count(scored)} {answers} that must fail"
    missing = f", {count(all_of_them - scored)} without a score" if scored < all_of_them else ""
    return f"canaries: {passed} {verb} passed{missing}"


def graded_by(found: CorrectedRate) -> str:
    """Who says so: the judge, where it decides alone."""
    if found.is_by_judge_alone:
        return "in the eyes of the judge"
    return f"as graded, which {found.judge} does not decide alone"


def _passed(metrics: Metrics) -> str:
    if not isinstance(metrics.pass_count, int):
        return f"About {round(100 * (metrics.pass_rate.value or 0.0))} of 100 answers"
    all_of_them = metrics.evaluated_records
    if all_of_them == 1:
        return f"{count(metrics.pass_count)} of 1 answer"
    return f"{count(metrics.pass_count)} of {count(all_of_them)} answers"


def _say_corrected(found: CorrectedRate) -> str:
    about = f"About {round(100 * (found.value or 0.0))} of 100 answers are good"
    read = count(found.labels)
    if found.is_borrowed:
        return (
            f"{about}, if the judge errs here as on the {read} answers of another run that people "
            f"have read. Then anything from {_ends(found)} is possible."
        )
    if found.low is None or found.high is None:
        return f"{about}. People have read {read}, too few for an interval."
    return f"{about}. People have read {read}, so anything from {_ends(found)} is possible."


def _ends(found: Estimated) -> str:
    return f"{round(100 * (found.low or 0.0))} to {round(100 * (found.high or 0.0))}"
