"""Corrected rates of listed runs: with validations of today, computed once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from fakes.demo_project import make_demo
from steelyard.project import open_project
from steelyard.results.metrics import kept_metrics
from steelyard.usecases.correction.current_rates import CurrentRates

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_a_judge_that_was_validated_after_a_run_corrects_its_rate(tmp_path: Path) -> None:
    with open_project(make_demo(tmp_path)) as project:
        judged = next(run for run in project.store.list(20) if run.dataset == "library-helpdesk")
        assert judged.summary
        metrics = kept_metrics(judged.summary)
        rates = project.current_rates()
        found = rates.of(judged, metrics)
        # Kept: the files of the run are not read again.
        (project.folder / "runs" / judged.run_id / "predictions.jsonl").unlink()
        again = project.current_rates().of(judged, metrics)
        gone = replace(judged, run_id="run_gone")

        assert metrics.corrected_pass_rate
        assert not metrics.corrected_pass_rate.is_corrected
        assert found
        assert found.is_corrected
        assert again is found
        assert rates.of(gone, metrics) == metrics.corrected_pass_rate
        unjudged = next(run for run in project.store.list(20) if run.dataset == "rules-quiz")
        assert unjudged.summary
        assert rates.of(unjudged, kept_metrics(unjudged.summary)) is None
        large = structs.replace(metrics, rows=10**6)
        untouched = CurrentRates(
            project.sealed_runs.fetch, lambda: project.validations, lambda: NOW
        )
        assert untouched.of(judged, large) == metrics.corrected_pass_rate
