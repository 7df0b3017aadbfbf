"""`steelyard resume`: resume an interrupted run."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.arguments import RunName
from steelyard.cli.engine import (
    AddressOption,
    EngineChoice,
    EngineOption,
    ResourcesOption,
    SendEnvOption,
)
from steelyard.cli.opening import opened
from steelyard.cli.report_files import FormatOption, OutOption, ReportFormat, out_files
from steelyard.cli.running import (
    ProgressLine,
    check_allowed,
    exit_code,
    gate_results,
    print_gates,
    share,
    stoppable,
)

if TYPE_CHECKING:
    from steelyard.cli.run_output import RunReports
    from steelyard.engine.activity import Look
    from steelyard.reports.run.run_text import RunView
    from steelyard.results.plan import Plan
    from steelyard.results.stored_run import StoredRun
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.execute import FinishedRun


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    run: RunName,
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
        str | None,
        typer.Option(
            callback=check_allowed, help="Maximum records without a score, N or P%; exit 4 above."
        ),
    ] = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    resources: ResourcesOption = None,
    send_env: SendEnvOption = None,
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
) -> None:
    """Resume an interrupted run. Saved answers are reused; the run's gates still apply."""
    from steelyard.cli.local_run import show_finished
    from steelyard.engine.states import is_terminal
    from steelyard.event_loop import run_async
    from steelyard.garbage_collection import tune_garbage_collection
    from steelyard.results.stored_run import require_plan
    from steelyard.usecases.results.gates import Gates
    from steelyard.usecases.runs.execute import resume_run

    files = out_files(out)
    on = EngineChoice(
        engine=engine, address=address, resources=resources or (), send_env=send_env or ()
    )
    project = opened()
    ports = project.executing_ports(on.over(project.settings.engine))
    tune_garbage_collection()
    stored = ports.repository.find(run)
    plan = require_plan(stored)
    if is_terminal(stored.status):
        typer.echo(f"{stored.run_id} is finished already: {stored.status}", err=True)
    elif ports.worker_pool.is_remote:
        ports.worker_pool.warm(plan.options.workers)
    is_quiet = output is not ReportFormat.text
    with (
        closing(ports.worker_pool),
        stoppable([stored.run_id]),
        ProgressLine(_title(stored, plan), plan.total_rows, is_quiet=is_quiet) as progress,
    ):

        def watch(look: Look) -> None:
            # Failures that are tried again are withdrawn by now.
            progress.keep(project.store.progress([stored.run_id])[stored.run_id].rows)
            progress.watch(look)

        watched = replace(ports, watch=watch)
        finished = run_async(lambda: resume_run(watched, stored, progress.note))
    named = {
        "fail_under": fail_under,
        "fail_under_low": fail_under_low,
        "corrected": corrected or None,
        "allow_failures": allow_failures,
    }
    kept = plan.options.gates
    changed = {name: value for name, value in named.items() if value is not None}
    gates = Gates.of({**kept, **changed})
    gates.require_use()
    if output is ReportFormat.text and finished.metrics:
        show_finished(finished, gates)
    _reports(finished, gates).put(output, files, in_summary=True)
    print_gates(finished, gates)
    raise typer.Exit(exit_code(finished, gates))


def _title(run: StoredRun, plan: Plan) -> str:
    """The run as `run` calls it."""
    return f"{run.dataset} × {' + '.join(plan.models)}"


def _reports(finished: FinishedRun, gates: Gates) -> RunReports:
    """The run with its current gates; nothing but its status if it has no results."""
    from steelyard.cli.run_output import RunReports
    from steelyard.usecases.results.read_run import read_run

    views: list[RunView] = []
    if finished.metrics:
        view = read_run(Path(finished.folder))
        views.append(replace(view, gates=gate_results(finished, gates)))
    return RunReports(views=views, row=_row(finished))


def _row(finished: FinishedRun) -> dict[str, Any]:
    """The run, with the comparison of a pairwise run."""
    from steelyard.cli.pairwise import pairwise_of
    from steelyard.cli.run_output import finished_row
    from steelyard.usecases.results.read_run import read_run

    pairwise = pairwise_of(read_run(Path(finished.folder))) if finished.metrics else None
    return {**finished_row(finished), **(pairwise.row() if pairwise else {})}
