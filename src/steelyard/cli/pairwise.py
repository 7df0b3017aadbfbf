"""`steelyard compare --pairwise`: which answers a judge prefers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from steelyard.cli.opening import opened
from steelyard.cli.plans import print_plans
from steelyard.cli.report_files import OutFile, ReportFormat, add_summary, write_files
from steelyard.cli.running import exit_code, group_code, print_gates, run_one
from steelyard.cli.terminal import painter

if TYPE_CHECKING:
    from steelyard.execution.prepared import Prepared
    from steelyard.reports.comparison.pairwise_text import PairwiseView
    from steelyard.reports.findings import Paint
    from steelyard.reports.run.run_text import RunView
    from steelyard.usecases.results.gates import ComparisonGate
    from steelyard.usecases.runs.execute import FinishedRun
    from steelyard.usecases.runs.pairwise import PairwiseOptions
    from steelyard.usecases.runs.ports import RunPorts


@dataclass(frozen=True, slots=True)
class PairwiseRun:
    """A finished pairwise run, as text and as JSON."""

    view: PairwiseView

    def lines(self, paint: Paint) -> Iterator[str]:
        """For a terminal."""
        from steelyard.reports.comparison.pairwise_text import pairwise_lines

        return pairwise_lines(self.view, paint)

    def row(self) -> dict[str, Any]:
        """For programs."""
        return pairwise_json([self.view])


def pairwise_of(view: RunView) -> PairwiseRun | None:
    """The result of a pairwise run; None for any other run, or if its rows were pruned."""
    from steelyard.results.predictions import PREDICTIONS
    from steelyard.usecases.results.pruned_files import pruned_on
    from steelyard.usecases.results.read_run import is_pairwise_run

    folder = Path(view.folder)
    if not is_pairwise_run(view) or pruned_on(folder, PREDICTIONS):
        return None
    from steelyard.usecases.results.pairwise_results import read_pairwise

    return PairwiseRun(read_pairwise(folder))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseCommand:
    """Options of a pairwise comparison and its output."""

    options: PairwiseOptions
    is_plan: bool
    output: ReportFormat
    gate: ComparisonGate | None
    put: Callable[[str], None]
    """Writes the result."""
    files: Sequence[OutFile] = ()

    @property
    def is_json(self) -> bool:
        """Whether programs read the result."""
        return self.output is ReportFormat.json


def compare_pairwise(runs: Sequence[str], asked: PairwiseCommand) -> int:
    """Let a judge compare every pair of the runs; return the exit code."""
    from steelyard.garbage_collection import tune_garbage_collection
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.results.pairwise_results import read_all
    from steelyard.usecases.runs.pairwise import pairwise_options
    from steelyard.usecases.runs.prepare import prepare

    project = opened()
    ports = project.run_ports()
    tune_garbage_collection()
    folders = project.run_folders(runs)
    with closing(ports.worker_pool):
        options = pairwise_options(ports, folders, asked.options)
        prepared = [prepare(ports, one) for one in options]
        if asked.is_plan:
            print_plans(ports, prepared, None, is_json=asked.is_json)
            return 0
        finished = list(_run_all(ports, prepared, asked))
    gates = Gates.of(options[0].gates)
    for one in finished:
        print_gates(one, gates)
    views = read_all([Path(one.folder) for one in finished])
    rendered = partial(_rendered, views)
    asked.put(rendered(asked.output))
    write_files(asked.files, rendered)
    add_summary(rendered)
    codes = [exit_code(one, gates) for one in finished]
    return group_code([*codes, *(_gate_codes(views, asked.gate) if asked.gate else ())])


def pairwise_json(views: Sequence[PairwiseView]) -> dict[str, Any]:
    """Pairwise runs for programs."""
    from steelyard.reports.comparison.pairwise_text import pairwise_row, strength_row
    from steelyard.usecases.results.pairwise_results import strength_table

    table = strength_table(views) if len(views) > 1 else []
    return {
        "pairwise": {
            "comparisons": [pairwise_row(view) for view in views],
            "bradley_terry": [strength_row(row) for row in table],
        }
    }


def _run_all(
    ports: RunPorts, prepared: Sequence[Prepared], asked: PairwiseCommand
) -> Iterator[FinishedRun]:
    """Execute the runs in sequence; they share one budget."""
    from msgspec import structs

    left = prepared[0].limits.budget_usd
    for one in prepared:
        limited = replace(
            one,
            limits=replace(one.limits, budget_usd=left),
            options=structs.replace(one.options, budget_usd=left),
        )
        done = run_one(ports, limited, is_quiet=asked.is_json)
        yield done
        if left is not None:
            cost = done.metrics.cost_usd.total if done.metrics else None
            left = max(0.0, left - (cost or 0.0))


def _rendered(views: Sequence[PairwiseView], form: ReportFormat) -> str:
    if form is ReportFormat.json:
        return json.dumps(pairwise_json(views), ensure_ascii=False, indent=2)
    from steelyard.reports.comparison.pairwise_text import pairwise_lines, strength_lines
    from steelyard.reports.findings import plain
    from steelyard.reports.markdown_text import fenced
    from steelyard.usecases.results.pairwise_results import strength_table

    is_text = form is ReportFormat.text
    lines: list[str] = []
    for view in views:
        paint = painter() if is_text else plain
        lines += [*pairwise_lines(view, paint), f"  run         {view.run_id}"]
    if len(views) > 1 and (table := strength_table(views)):
        lines += strength_lines(table)
    text = "\n".join(lines)
    return text if is_text else f"### Pairwise comparison\n\n{fenced(text, is_whole=True)}"


def _gate_codes(views: Sequence[PairwiseView], asked: ComparisonGate) -> Iterator[int]:
    """Gate each run against the first, and print what was checked."""
    from steelyard.usecases.results.pairwise_results import gate_of

    for view in views:
        if view.a.run_id != views[0].a.run_id:
            continue
        gate = gate_of(Path(view.folder), asked)
        outcome = f"'{gate.name}' looked at {gate.looked_at}"
        if gate.is_undecided:
            outcome = f"{gate.reason}; {outcome}"
        elif gate.passed:
            outcome = f"gate passed: {outcome}"
        else:
            outcome = f"gate failed: {gate.reason}; {outcome}"
        typer.echo(f"steelyard: {view.b.run_id} against {view.a.run_id}: {outcome}", err=True)
        yield 2 if gate.is_undecided else int(not gate.passed)
