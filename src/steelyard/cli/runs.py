"""`steelyard runs`: list the runs of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.server.server_runs import ServerOption, remote_status
from steelyard.cli.terminal import show, show_json

if TYPE_CHECKING:
    from steelyard.client.remote import RemoteRun
    from steelyard.model.json_value import JsonObject
    from steelyard.results.stored_run import StoredRun


def command(
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of runs.")] = 20,
    output: Annotated[OutputFormat, typer.Option("--format", help="Output format.")] = (
        OutputFormat.text
    ),
    server: ServerOption = None,
) -> None:
    """List runs, newest first."""
    if server is not None:
        _list_remote(server, limit, output)
        return
    from steelyard.reports.findings import printable
    from steelyard.usecases.results.find_run import unknown_runs
    from steelyard.usecases.results.runs import list_runs

    project = opened()
    has_runs = project.has_data()
    runs = list_runs(project.store, limit=limit).runs if has_runs else ()
    _warn_of_unknown(unknown_runs(project.result_ports()) if has_runs else [])

    standings = {run.run_id: project.standing(run) for run in runs}
    pruned = {run.run_id: project.pruned_names(run.run_id) for run in runs}
    if output is OutputFormat.json:
        rows = [
            {
                **run.json(),
                **standings[run.run_id].json(),
                "pruned": pruned[run.run_id],
            }
            for run in runs
        ]
        show_json({"data": rows})
        return
    if not runs:
        show("no runs yet; `steelyard run DATASET --target NAME` makes one")
    for run in runs:
        rate = _rate(run.summary) if run.summary else "–"
        if run.summary and _is_pairwise(run):
            rate = "pairwise comparison"
        if run.summary and run.plan and run.plan.setup and run.plan.setup.is_of_canaries:
            rate = _canaries(run.summary)
        what = printable(f"{run.dataset} × {run.target or 'several targets'}")
        gone = "  (pruned)" if pruned[run.run_id] else ""
        _show_line(run, standings[run.run_id].text, rate, f"{what}{gone}")


def _list_remote(server: str, limit: int, output: OutputFormat) -> None:
    """List the runs of a server."""
    from itertools import islice

    from steelyard.client.sync_client import Client
    from steelyard.model.run import CANARIES
    from steelyard.reports.findings import printable

    with Client(server) as client:
        runs = list(islice(client.runs(limit=min(limit, 100)), limit))
    if output is OutputFormat.json:
        show_json({"data": [_remote_row(run) for run in runs]})
        return
    if not runs:
        show(f"no runs yet at {server}")
    for run in runs:
        rate = _rate(run.summary) if run.summary else "–"
        if run.summary and (run.dataset_id, run.target) == (CANARIES, CANARIES):
            rate = _canaries(run.summary)
        what = printable(f"{run.dataset_id or ''} × {run.target or 'several targets'}")
        gone = "  (pruned)" if run.pruned else ""
        _show_line(run, remote_status(run), rate, f"{what}{gone}")


def _remote_row(run: RemoteRun) -> dict[str, object]:
    """A run of a server as one of the project is listed."""
    return {
        "run_id": run.run_id,
        "status": run.status,
        "created_at": run.created_at,
        "dataset": run.dataset_id,
        "target": run.target,
        "group": run.group_id,
        "metrics": run.summary,
        "cancelling": run.cancelling,
        "waiting": run.waiting,
        "resumable": run.resumable,
        "unresumable": run.unresumable,
        "pruned": list(run.pruned),
    }


def _show_line(run: StoredRun | RemoteRun, status: str, rate: str, what: str) -> None:
    from steelyard.reports.findings import printable

    when = run.created_at[:19].replace("T", " ")
    show(f"{printable(run.run_id)}  {printable(when)}  {printable(status):<24} {rate:<32} {what}")


def _warn_of_unknown(run_ids: list[str]) -> None:
    """Warn about run folders that are missing in the store, such as a new or empty one."""
    if run_ids:
        typer.echo(
            f"steelyard: warning: the store of the project knows nothing of {len(run_ids)} "
            "finished run(s) in .steelyard/runs; put it back from a backup, or read them by ids: "
            f"steelyard show {run_ids[0]}",
            err=True,
        )


def _is_pairwise(run: StoredRun) -> bool:
    """Whether the rows are wins of one run over another, so that there is no pass rate."""
    derived = run.plan.options.derived if run.plan else None
    return derived is not None and derived.against is not None


def _canaries(summary: JsonObject) -> str:
    """How many of the answers that must fail a judge has passed."""
    from steelyard.reports.numbers import count
    from steelyard.results.metrics import kept_metrics

    metrics = kept_metrics(summary)
    passed, scored = count(metrics.pass_count), count(metrics.evaluated_records)
    return f"{passed} of {scored} that must fail passed"


def _rate(summary: JsonObject) -> str:
    """The pass rate with its denominator."""
    from steelyard.reports.numbers import count, rate_text
    from steelyard.results.metrics import kept_metrics

    rate = kept_metrics(summary).pass_rate
    return f"{rate_text(rate)} n = {count(rate.n)}"
