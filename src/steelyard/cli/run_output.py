"""Finished runs in every output format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.cli.report_files import (
    OutFile,
    ReportFormat,
    add_summary,
    write_files,
)
from steelyard.cli.terminal import painter, show, show_report
from steelyard.errors import NotFoundError

if TYPE_CHECKING:
    from steelyard.model.statistics.comparison import Comparison
    from steelyard.project import Project
    from steelyard.reports.run.run_text import RunView
    from steelyard.usecases.results.compare import Knowledge
    from steelyard.usecases.runs.execute import FinishedRun

_FAILURES = 10
"""So many records that did not pass are shown, over all runs; at least two of each."""


class ComparedRuns(NamedTuple):
    """Runs by dataset, each with the comparisons of the others with the first."""

    datasets: Sequence[tuple[Sequence[RunView], Sequence[Comparison]]]
    known: Knowledge
    """The validations of judges that the comparisons rest on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReports:
    """Finished runs in the formats that cover all of them."""

    views: Sequence[RunView]
    row: Any
    """The JSON value."""
    compared: ComparedRuns | None = None
    """How runs of a group compare."""

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
        datasets = self.compared.datasets if self.compared else ()
        found = [one for _, compared in datasets for one in compared]
        return "\n\n".join((*runs, *map(comparison_markdown, found)))

    def _junit(self) -> str:
        from steelyard.reports.run.run_junit import run_junit
        from steelyard.usecases.results.read_run import read_predictions

        return run_junit((view, read_predictions(Path(view.folder))) for view in self.views)

    def _html(self) -> str:
        from steelyard.cli.result_pages import group_page, pair_page, run_page
        from steelyard.usecases.results.paired_runs import paired_runs

        if not self.views:
            raise NotFoundError("there is no result to make a page of")
        if len(self.views) == 1 or self.compared is None:
            return run_page(self.views[0])
        datasets, known = self.compared
        if len(self.views) == 2 and len(datasets) == 1:
            a, b = (Path(view.folder) for view in self.views)
            return pair_page(paired_runs(a, b, known))
        return group_page(datasets, known)


def compared_runs(project: Project, views: Sequence[RunView]) -> ComparedRuns:
    """For each dataset with several runs, its other runs compared with its first."""
    from steelyard.usecases.correction.judge_knowledge import judge_knowledge
    from steelyard.usecases.results.compare import compare_with_first

    known = judge_knowledge(project.validations.all, project.clock.now())
    datasets: dict[str, list[RunView]] = {}
    for view in views:
        setup = view.manifest.setup
        key = json.dumps([setup.dataset_id, setup.source], sort_keys=True)
        datasets.setdefault(key, []).append(view)
    return ComparedRuns(
        [
            (
                one,
                compare_with_first([Path(view.folder) for view in one], known) if one[1:] else (),
            )
            for one in datasets.values()
        ],
        known,
    )


def show_compared(compared: ComparedRuns) -> None:
    """Show as text how the runs of each dataset compare with its first."""
    from steelyard.reports.comparison.short_comparison import short_lines

    for _, found in compared.datasets:
        if found:
            show_report(("", *short_lines(found, painter())))


def finished_row(finished: FinishedRun) -> dict[str, Any]:
    """The JSON object of a finished run."""
    return {
        "run_id": finished.run_id,
        "status": finished.status,
        "artifacts": finished.folder,
        "metrics": finished.metrics.json() if finished.metrics else {},
    }
