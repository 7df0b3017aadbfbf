"""Pass rates and unscored shares of an unchanged judge, run by run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from steelyard.model.json_value import JsonObject
from steelyard.model.run import VALIDATION
from steelyard.results.metrics import Metrics, kept_metrics
from steelyard.results.stored_run import StoredRun
from steelyard.stats.tables import independence
from steelyard.usecases.runs.ports import RunPorts

_MOST_RUNS = 50
_UNLIKELY = 0.001
_ROUNDING = 1e-6


class _Counts(NamedTuple):
    passed: float
    """Not whole where repeats of a record disagree."""
    failed: float
    unscored: int
    judged: int
    """Judged responses; with repeats, more than records."""

    @property
    def scored(self) -> int:
        """Records that have a verdict."""
        return round(self.passed + self.failed)

    @property
    def verdicts(self) -> tuple[int, int]:
        """Records that passed and that did not, to the nearest whole one."""
        passed = round(self.passed)
        return passed, self.scored - passed

    def together(self, other: _Counts) -> _Counts:
        """Those of two runs."""
        return _Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.unscored + other.unscored,
            self.judged + other.judged,
        )

    @property
    def row(self) -> JsonObject:
        """The shares with their denominators."""
        return {
            "passed": _whole(self.passed),
            "scored": self.scored,
            "pass_share": self.passed / self.scored if self.scored else None,
            "unscored": self.unscored,
            "n": self.judged,
            "unscored_share": self.unscored / self.judged if self.judged else None,
        }


def judge_history(ports: RunPorts, fingerprints: Iterable[str], check: str) -> list[JsonObject]:
    """The runs graded by these fingerprints, oldest first.

    Each has its pass rate and its share of unscored responses, and names which of the two
    differs at p < .001 from all earlier runs of the same dataset and targets.
    """
    marks = set(fingerprints)
    rows: list[JsonObject] = []
    known: dict[str, _Counts] = {}
    for run in reversed(ports.repository.list(_MOST_RUNS)):
        counts = _counts(run, check)
        used = ports.judgements.used(run.run_id)
        if counts is None or not marks & {one.fingerprint for one in used}:
            continue
        name = f"{run.dataset} {run.target}"
        before = known.get(name, _Counts(0, 0, 0, 0))
        rows.append(_row(run, counts, before))
        known[name] = before.together(counts)
    return rows


def _counts(run: StoredRun, check: str) -> _Counts | None:
    if run.summary is None or (run.group_id or "").startswith(VALIDATION):
        return None
    metrics = kept_metrics(run.summary)
    found = metrics.checks.get(check)
    if found is None:
        return None
    n, unscored = found.pass_rate.n, found.unscored
    passed = (found.pass_rate.value or 0.0) * n
    return _Counts(passed, n - passed, unscored, _judged(metrics, n, unscored))


def _whole(number: float) -> int | float:
    """Counts are whole unless repeats of a record disagree; rates are rounded."""
    nearest = round(number)
    return nearest if abs(number - nearest) < _ROUNDING else number


def _judged(metrics: Metrics, scored: int, unscored: int) -> int:
    """The number of judged responses: each repeat of a record with a verdict counts."""
    rows, records = metrics.rows, metrics.total_records - (metrics.unread_records or 0)
    repeats = round(rows / records) if rows and records else 1
    judged = scored * max(1, repeats) + unscored
    return min(judged, rows) if rows else judged


def _row(run: StoredRun, counts: _Counts, before: _Counts) -> JsonObject:
    answered, earlier = (one.judged - one.unscored for one in (counts, before))
    unlike = [
        name
        for name, p_value in (
            ("passed", independence(*counts.verdicts, *before.verdicts)),
            ("unscored", independence(answered, counts.unscored, earlier, before.unscored)),
        )
        if p_value < _UNLIKELY
    ]
    return {
        "run_id": run.run_id,
        "created_at": run.created_at,
        **counts.row,
        "unlike_earlier": list(unlike),
        "earlier": before.row if before.judged else None,
    }
