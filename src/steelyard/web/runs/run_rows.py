"""Runs as rows of a table: state, rates with their intervals, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.engine.states import is_terminal
from steelyard.project import Project
from steelyard.reports.rate_words import say_canaries
from steelyard.reports.sentence import sentence
from steelyard.reports.verdict_words import VerdictWord, run_word
from steelyard.results.runs import RunDetail
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.run_trends import is_validation
from steelyard.usecases.results.runs import show_runs
from steelyard.usecases.runs.overview import MeasuredRun, measured_run


class RunRow(NamedTuple):
    """One run of a list."""

    listed: MeasuredRun
    word: VerdictWord
    is_live: bool
    """Whether it is at work or waits, so that the row may change soon."""
    done: int
    total: int | None

    @property
    def run(self) -> StoredRun:
        """The run as the store knows it."""
        return self.listed.run

    @property
    def run_id(self) -> str:
        """Its id."""
        return self.listed.run.run_id

    @property
    def is_comparable(self) -> bool:
        """Whether it has results that can be compared with those of another."""
        return self.listed.metrics is not None and self.run.plan is not None

    @property
    def is_validation(self) -> bool:
        """Whether it only finds out how far a judge is right."""
        return is_validation(self.run)

    @property
    def canaries(self) -> str:
        """What judges did with answers that they must fail; empty for any other run."""
        setup, metrics = self.run.plan and self.run.plan.setup, self.listed.metrics
        return (
            sentence(say_canaries(metrics)) if setup and setup.is_of_canaries and metrics else ""
        )

    @property
    def uncorrected(self) -> str:
        """Why there is no corrected rate; empty where no judge decides, or where there is one."""
        found = self.listed.corrected
        return "" if found is None or found.is_corrected else found.reason or ""

    @property
    def short_reason(self) -> str:
        """The same without the name of the judge, which the page of the run has."""
        judge = self.listed.corrected.named if self.listed.corrected else ""
        return self.uncorrected.removeprefix(judge).lstrip(": ")


def run_rows(project: Project, runs: Sequence[StoredRun]) -> tuple[RunRow, ...]:
    """Rows of runs, in their order."""
    current = project.current_rates()
    return tuple(
        _row(project, detail, measured_run(detail.run, current.of))
        for detail in show_runs(project.store, runs)
    )


def _row(project: Project, detail: RunDetail, listed: MeasuredRun) -> RunRow:
    run = detail.run
    standing = project.standing(run)
    return RunRow(
        listed=listed,
        word=run_word(standing.text),
        is_live=not is_terminal(run.status) and not standing.has_stopped,
        done=detail.progress.rows,
        total=detail.total,
    )
