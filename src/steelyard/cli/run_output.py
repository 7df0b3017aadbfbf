"""Finished runs in every output format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.report_files import (
    OutFile,
    ReportFormat,
    add_summary,
    refuse_formats,
    write_files,
)
from steelyard.cli.terminal import painter, show, show_report
from steelyard.errors import NotFoundError

if TYPE_CHECKING:
    from steelyard.model.statistics.comparison import Comparison
    from steelyard.project import Project
    from steelyard.reports.run.run_text import RunView
    from steelyard.usecases.runs.execute import FinishedRun

_FAILURES = 10
"""So many records that did not pass are shown, over all runs; at least two of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReports:
    """Finished runs in the formats that cover all of them."""

    views: Sequence[RunView]
    row: Any
    """The JSON value."""
    comparisons: Sequence[Comparison] = ()
    """Of runs of the group with the first run of their dataset."""

    def rendered(self, form: ReportFormat) -> str:
        """The runs in a format."""
        if form is ReportFormat.json:
            return json.dumps(self.row, ensure_ascii=False, indent=2)
        if form is ReportFormat.markdown:
            return self._markdown()
        return self._junit() if form is ReportFormat.junit else self._html()

    def put(self, output: ReportFormat, files: Sequence[OutFile], *, in_summary: bool) -> None:
        """Print one format, write the files, and add to the summary of a CI job.

        Text is printed by the command itself.
        """
        if output is not ReportFormat.text:
            show(self.rendered(output).encode("utf-8", "backslashreplace"))
        write_files(files, self.rendered)
        if in_summary and self.views:
            add_summary(self.rendered)

    def _markdown(self) -> str:
        from steelyard.reports.comparison.comparison_markdown import comparison_markdown
        from steelyard.reports.run.run_markdown import run_markdown
        from steelyard.usecases.results.first_failures import first_failures

        most = max(2, _FAILURES // max(1, len(self.views)))
        runs = (run_markdown(one, first_failures(Path(one.folder), most)) for one in self.views)
        return "\n\n".join((*runs, *map(comparison_markdown, self.comparisons)))

    def _junit(self) -> str:
        from steelyard.reports.run.run_junit import run_junit
        from steelyard.usecases.results.read_run import read_predictions

        return run_junit((view, read_predictions(Path(view.folder))) for view in self.views)

    def _html(self) -> str:
        from steelyard.reports.html.run_html import run_html
        from steelyard.results.predictions import PREDICTIONS
        from steelyard.usecases.results.pruned_files import pruned_on
        from steelyard.usecases.results.read_run import read_predictions

        if not self.views:
            raise NotFoundError("there is no result to make a page of")
        (view,) = self.views
        folder = Path(view.folder)
        day = pruned_on(folder, PREDICTIONS)
        return run_html(view, () if day else read_predictions(folder), pruned=day)


def require_one_run(number: int, files: Sequence[OutFile], output: ReportFormat) -> None:
    """Refuse a page of several runs."""
    if number > 1:
        why = (
            f"a page shows one run, and these are {number}; `steelyard report RUN -o FILE` "
            "writes one for each, `steelyard compare A B --format html` one for two"
        )
        refuse_formats(files, output, [ReportFormat.html], why)


def compared_with_first(project: Project, views: Sequence[RunView]) -> list[list[Comparison]]:
    """For each dataset with several runs, its other runs compared with its first."""
    from steelyard.usecases.correction.corrected_pair import judge_knowledge
    from steelyard.usecases.results.compare import compare_with_first

    folders: dict[str, list[Path]] = {}
    for view in views:
        setup = view.manifest.setup
        key = json.dumps([setup.dataset_id, setup.source], sort_keys=True)
        folders.setdefault(key, []).append(Path(view.folder))
    known = judge_knowledge(project.validations.all, project.clock.now())
    return [compare_with_first(one, known) for one in folders.values() if len(one) > 1]


def show_compared(compared: Sequence[Sequence[Comparison]]) -> None:
    """Show as text how the runs of each dataset compare with its first."""
    from steelyard.reports.comparison.short_comparison import short_lines

    for found in compared:
        show_report(("", *short_lines(found, painter())))


def finished_row(finished: FinishedRun) -> dict[str, Any]:
    """The JSON object of a finished run."""
    return {
        "run_id": finished.run_id,
        "status": finished.status,
        "artifacts": finished.folder,
        "metrics": finished.metrics.json() if finished.metrics else {},
    }
