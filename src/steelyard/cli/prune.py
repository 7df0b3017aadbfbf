"""`steelyard prune`: remove results that are past their retention."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json

if TYPE_CHECKING:
    from steelyard.results.pruned import PruningReport

_UNIT = 1000


def command(
    older_than: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS", min=30, help="Override retention: prune raw results older than DAYS."
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Prune; without it, only list what would be pruned.")
    ] = False,
    output: Annotated[OutputFormat, typer.Option("--format", help="Output format.")] = (
        OutputFormat.text
    ),
) -> None:
    """List results past their retention; remove them with --yes."""
    from steelyard.usecases.runs.prune import (
        Leftovers,
        plan_pruning,
        prune,
        prune_audit_log,
        pruning_report,
        retention_of,
    )

    project = opened()
    retention = retention_of(project.settings, older_than)
    with closing(project.retention_store()) as store:
        planned = plan_pruning(store, retention, project.clock.now())
        changes = prune_audit_log(store, retention, project.clock.now()) if yes else 0
        left = prune(store, planned) if yes else Leftovers()
    report = pruning_report(planned, retention, is_done=yes)
    if output is OutputFormat.json:
        show_json(report.json())
    else:
        if changes:
            show(f"removed {changes} entries of the audit log")
        if left.inputs:
            show(f"removed the left-over inputs of {left.inputs} queued run(s)")
        if left.objects:
            show(f"removed {left.objects} left-over object(s) of the bucket")
        _show(report)


def _show(report: PruningReport) -> None:
    kept = f"raw results {report.raw_days} days, summaries {report.summary_days} days"
    if not report.runs:
        show(f"nothing to prune ({kept})")
        return
    for pruning in report.runs:
        what = "all that is left" if pruning.summaries else "raw results"
        rows = f", {pruning.rows} rows of the database" if pruning.rows else ""
        show(f"{pruning.run_id}  finished {pruning.finished_at[:10]}  {what}{rows}")
        for file in pruning.files:
            show(f"  {size_text(file.size):>9}  {file.name}")
    word = "removed" if report.is_done else "would remove"
    removed = f"{word} {report.files} file(s), {size_text(report.size)}"
    show(f"{removed}, and {report.rows} row(s) of {len(report.runs)} run(s)")
    if not report.is_done:
        show(f"nothing was removed; --yes does it ({kept})")


def size_text(size: int) -> str:
    """A human-readable size."""
    amount, unit = float(size), "B"
    for larger in ("kB", "MB", "GB"):
        if amount < _UNIT:
            break
        amount, unit = amount / _UNIT, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
