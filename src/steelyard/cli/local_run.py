"""Runs on this machine: of the command line, or derived from another run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from steelyard.cli.engine import EngineChoice
from steelyard.cli.opening import opened
from steelyard.cli.plans import print_plans
from steelyard.cli.report_files import OutFile, ReportFormat, out_files
from steelyard.cli.run_output import RunReports, compared_runs, finished_row, show_compared
from steelyard.cli.running import exit_code, gate_results, group_code, print_gates, run_one
from steelyard.cli.terminal import error_text, painter, show_report
from steelyard.cli.watching import Snapshot, report_inputs, write_report

if TYPE_CHECKING:
    from steelyard.execution.prepared import Prepared
    from steelyard.project import Project
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.execute import FinishedRun
    from steelyard.usecases.runs.ports import RunPorts
    from steelyard.usecases.runs.prepare import RunOptions
    from steelyard.usecases.runs.suites import SuiteChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRun:
    """What was typed, checked as far as no project is needed."""

    choice: SuiteChoice
    near: Path | None
    """The dataset by which the project is found."""
    from_run: str | None
    is_plan: bool
    detect: float | None
    output: ReportFormat
    files: Sequence[OutFile]
    engine: EngineChoice
    report: Path | None
    """Where a watching process is told what is read."""

    def execute(self) -> None:
        """Run, or plan, and exit."""
        from steelyard.garbage_collection import tune_garbage_collection
        from steelyard.usecases.results.gates import Gates
        from steelyard.usecases.runs.prepare import prepare
        from steelyard.usecases.runs.suites import choose

        project, choice, reads = opened(self.near), self.choice, dict[Path, Path]()
        noted = reads if self.report else None
        ports = project.executing_ports(self.engine.over(project.settings.engine), noted)
        tune_garbage_collection()
        if self.from_run:
            recorded = project.run_folder(self.from_run) / "predictions.jsonl"
            choice = replace(choice, responses=recorded, from_conversation=False)
        runs = choose(ports, choice)
        with closing(ports.worker_pool):
            count = runs[0].workers
            if (count > 1 or ports.worker_pool.is_remote) and not self.is_plan:
                ports.worker_pool.warm(count)
            prepared = [prepare(ports, options) for options in runs]
            if self.is_plan:
                is_json = self.output is ReportFormat.json
                print_plans(ports, prepared, self.detect, is_json=is_json)
                return
            inputs = report_inputs(ports, prepared, reads) if self.report else {}
            self._tell(inputs)
            gates = Gates.of(runs[0].gates)
            finished, codes = run_all(ports, prepared, gates, self.output)
        print_runs(project, finished, runs, self.output, self.files)
        self._tell(inputs, finished)
        raise typer.Exit(group_code(codes))

    def _tell(self, inputs: Snapshot, finished: Sequence[FinishedRun] = ()) -> None:
        if self.report:
            write_report(self.report, inputs, [one.run_id for one in finished])


def run_derived(
    project: Project,
    options: RunOptions,
    output: ReportFormat,
    out: Sequence[str] | None,
    *,
    began: Callable[[str], None] | None = None,
) -> None:
    """Make a run derived from a finished one, with its gates; `began` is told its id."""
    from steelyard.garbage_collection import tune_garbage_collection
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.prepare import prepare

    files = out_files(out)
    ports = project.executing_ports()
    tune_garbage_collection()
    gates = Gates.of(options.gates)
    with closing(ports.worker_pool):
        prepared = prepare(ports, options)
        finished, codes = run_all(ports, [prepared], gates, output, began=began)
    print_runs(project, finished, [options], output, files)
    raise typer.Exit(group_code(codes))


def run_all(
    ports: RunPorts,
    prepared: Sequence[Prepared],
    gates: Gates,
    output: ReportFormat,
    *,
    began: Callable[[str], None] | None = None,
) -> tuple[list[FinishedRun], list[int]]:
    """Execute the runs in sequence; a failed run does not stop the others."""
    from steelyard.errors import RunError
    from steelyard.reports.findings import printable

    finished: list[FinishedRun] = []
    codes: list[int] = []
    for one in prepared:
        try:
            is_quiet = output is not ReportFormat.text
            done = run_one(ports, one, is_quiet=is_quiet, began=began)
        except RunError as error:
            if len(prepared) == 1:
                raise
            typer.echo(f"steelyard: {one.dataset.id}: {printable(error_text(error))}", err=True)
            codes.append(3)
            continue
        finished.append(done)
        codes.append(exit_code(done, gates))
        if output is ReportFormat.text:
            show_finished(done, gates)
        print_gates(done, gates)
    return finished, codes


def print_runs(
    project: Project,
    finished: Sequence[FinishedRun],
    runs: Sequence[RunOptions],
    output: ReportFormat,
    files: Sequence[OutFile],
) -> None:
    """Print and write what covers all runs; the text of each is shown when it ends."""
    from steelyard.usecases.results.read_run import read_run

    views = [read_run(Path(one.folder)) for one in finished]
    compared = compared_runs(project, views) if len(views) > 1 else None
    if compared and output is ReportFormat.text:
        show_compared(compared)
    rows = [finished_row(one) for one in finished]
    reports = RunReports(
        views=views,
        row=rows[0] if len(runs) == 1 else {"group": runs[0].group_id, "runs": rows},
        compared=compared,
    )
    reports.put(output, files, in_summary=True)


def show_finished(finished: FinishedRun, gates: Gates) -> None:
    """Show a finished run as text, with the current gates."""
    from steelyard.cli.pairwise import pairwise_of
    from steelyard.reports.run.run_text import next_steps, run_lines
    from steelyard.usecases.results.read_run import read_run

    view = replace(read_run(Path(finished.folder)), gates=gate_results(finished, gates))
    pairwise = pairwise_of(view)
    lines = run_lines(view, painter())
    if pairwise:
        lines = (*pairwise.lines(painter()), *view.no_score)
    show_report((*lines, *next_steps(view)))
