"""`steelyard run`: call targets, grade the answers, seal the artifacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.opening import opened
from steelyard.cli.plans import print_plans
from steelyard.cli.report_files import (
    FormatOption,
    OutFile,
    OutOption,
    ReportFormat,
    out_files,
)
from steelyard.cli.run_output import (
    RunReports,
    compared_with_first,
    finished_row,
    require_one_run,
    show_compared,
)
from steelyard.cli.running import (
    check_allowed,
    exit_code,
    gate_results,
    group_code,
    print_gates,
    require_number,
    run_one,
    share,
)
from steelyard.cli.server.server_runs import ServerOption
from steelyard.cli.tables import run_datasets
from steelyard.cli.terminal import error_text, painter, show_report

if TYPE_CHECKING:
    from steelyard.execution.prepared import Prepared
    from steelyard.project import Project
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.execute import FinishedRun
    from steelyard.usecases.runs.ports import RunPorts
    from steelyard.usecases.runs.prepare import RunOptions


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    datasets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DATASET...", help="Dataset files, or dataset/id@version."),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="A suite of steelyard.yaml.")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Target to call; repeat for several runs.")
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(help="rubric/id@version, an id or a path; replaces the checks of cases."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="judge/id@version, an id or a path; grades cases by their own expectations."
        ),
    ] = None,
    responses: Annotated[
        Path | None,
        typer.Option(
            help="Grade recorded responses instead of calling a target; 'conversation' grades the "
            "last assistant message of each case."
        ),
    ] = None,
    from_run: Annotated[
        str | None, typer.Option(help="Grade the stored responses of another run.")
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Run every record N times.")] = 1,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Run only the first N valid records.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="Run only records that match PATH OP VALUE [and ...]; = != < > ~."),
    ] = None,
    input_column: Annotated[
        str | None,
        typer.Option("--input", metavar="COLUMN", help="Of a table: the column to ask."),
    ] = None,
    expected_column: Annotated[
        str | None,
        typer.Option("--expected", metavar="COLUMN", help="Of a table: the expected answer."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Of a table: ids; default row-0001 …"),
    ] = None,
    prompt: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Prompt template; repeat to run every target with each."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Field that groups dependent records; default conversation_id.",
        ),
    ] = None,
    max_concurrency: Annotated[
        int | None, typer.Option(min=1, help="Maximum concurrent calls per target.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of worker processes.")] = 1,
    cache: Annotated[
        bool, typer.Option("--cache", help="Reuse cached answers from earlier runs.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="USD", callback=require_number, help="Maximum cost of the run."
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Refuse to start if there is any error or misspelt field."),
    ] = False,
    require_validated: Annotated[
        bool,
        typer.Option("--require-validated", help="Refuse to start if a judge is not validated."),
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="SHARE", help="Exit 1 if the pass rate is below SHARE."
        ),
    ] = None,
    fail_under_low: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="SHARE", help="Exit 1 if its lower bound is below SHARE."
        ),
    ] = None,
    corrected: Annotated[
        bool,
        typer.Option("--corrected", help="Apply both gates to the corrected pass rate."),
    ] = False,
    allow_failures: Annotated[
        str,
        typer.Option(
            callback=check_allowed, help="Maximum records without a score, N or P%; exit 4 above."
        ),
    ] = "0",
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print calls, tokens and cost of the run, and make no call."),
    ] = False,
    detect: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=100,
            metavar="POINTS",
            callback=require_number,
            help="With --plan: records needed to detect POINTS of difference (80 % power).",
        ),
    ] = None,
    server: ServerOption = None,
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
) -> None:
    """Run datasets against targets. Exit 1 if a gate fails, 4 if records have no score."""
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.errors import InvalidError
    from steelyard.event_loop import tune_garbage_collection
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.prepare import prepare
    from steelyard.usecases.runs.suites import SuiteChoice, choose

    if detect is not None and not plan:
        raise InvalidError("--detect belongs to --plan: it says how many records a run would need")
    files = out_files(out)
    if plan and files:
        raise InvalidError("--out writes the result of a run, and --plan makes none")
    if from_run and responses:
        raise InvalidError("--responses and --from-run exclude each other")
    is_conversation = str(responses) == "conversation"
    columns = TableColumns(input=input_column, expected=expected_column, id=id_column)
    choice = SuiteChoice(
        datasets=tuple(run_datasets(datasets or (), columns, has_rubric=bool(rubric or suite))),
        suite=suite,
        targets=tuple(target or ()),
        prompts=tuple(prompt or ()),
        rubric=rubric,
        judge=judge,
        responses=None if is_conversation else responses,
        from_conversation=is_conversation,
        repeat=repeat,
        limit=limit,
        where=where,
        cluster=cluster,
        max_concurrency=max_concurrency,
        budget_usd=budget,
        workers=workers,
        cache=cache,
        strict=strict,
        require_validated={} if require_validated else None,
        fail_under=fail_under,
        fail_under_low=fail_under_low,
        corrected=corrected,
        allow_failures=allow_failures,
    )
    if server is not None:
        from steelyard.cli.server.server_run import run_on_server

        local = {
            "--responses": responses,
            "--from-run": from_run,
            "--workers": workers > 1,
            "--cache": cache,
            "--plan": plan,
            "--prompt": prompt,
        }
        run_on_server(server, choice, local, output, files)
    project = opened(datasets[0] if datasets else None)
    ports = project.run_ports()
    tune_garbage_collection()
    if from_run:
        recorded = project.run_folder(from_run) / "predictions.jsonl"
        choice = replace(choice, responses=recorded, from_conversation=False)
    runs = choose(ports, choice)
    require_one_run(len(runs), files, output)
    with closing(ports.worker_pool):
        if workers > 1 and not plan:
            ports.worker_pool.warm(workers)
        prepared = [prepare(ports, options) for options in runs]
        if plan:
            print_plans(ports, prepared, detect, is_json=output is ReportFormat.json)
            return
        finished, codes = run_all(ports, prepared, Gates.of(runs[0].gates), output)
    print_runs(project, finished, runs, output, files)
    raise typer.Exit(group_code(codes))


def run_derived(
    project: Project,
    options: RunOptions,
    output: ReportFormat,
    out: Sequence[str] | None,
    *,
    began: Callable[[str], None] | None = None,
) -> None:
    """Make a run derived from a finished one, with its gates; `began` is told its id."""
    from steelyard.event_loop import tune_garbage_collection
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.prepare import prepare

    files = out_files(out)
    ports = project.run_ports()
    tune_garbage_collection()
    prepared = prepare(ports, options)
    gates = Gates.of(options.gates)
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
    compared = compared_with_first(project, views)
    if output is ReportFormat.text:
        show_compared(compared)
    rows = [finished_row(one) for one in finished]
    reports = RunReports(
        views=views,
        row=rows[0] if len(runs) == 1 else {"group": runs[0].group_id, "runs": rows},
        comparisons=[one for found in compared for one in found],
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
