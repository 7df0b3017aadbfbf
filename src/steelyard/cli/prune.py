"""`steelyard prune`: remove results that are past their retention."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json

if TYPE_CHECKING:
    from steelyard.settings import RetentionSettings
    from steelyard.usecases.runs.prune import Pruning

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
    from steelyard.usecases.runs.prune import plan_pruning, prune, retention_of

    project = opened()
    retention = retention_of(project.settings, older_than)
    with closing(project.retention_store()) as store:
        planned = plan_pruning(store, retention, project.clock.now())
        inputs = prune(store, planned) if yes else 0
    if output is OutputFormat.json:
        show_json(_row(planned, retention, is_done=yes))
    else:
        if inputs:
            show(f"removed the left-over inputs of {inputs} queued run(s)")
        _show(planned, retention, is_done=yes)


def _show(planned: list[Pruning], retention: RetentionSettings, *, is_done: bool) -> None:
    kept = f"raw results {retention.raw_days} days, summaries {retention.all_days} days"
    if not planned:
        show(f"nothing to prune ({kept})")
        return
    for pruning in planned:
        what = "all that is left" if pruning.is_last else "raw results"
        rows = f", {pruning.rows} rows of the database" if pruning.rows else ""
        show(f"{pruning.run_id}  finished {pruning.finished_at[:10]}  {what}{rows}")
        for file in pruning.files:
            show(f"  {size_text(file.size):>9}  {file.name}")
    files, size, rows = _totals(planned)
    word = "removed" if is_done else "would remove"
    show(f"{word} {files} file(s), {size_text(size)}, and {rows} row(s) of {len(planned)} run(s)")
    if not is_done:
        show(f"nothing was removed; --yes does it ({kept})")


def _row(planned: list[Pruning], retention: RetentionSettings, *, is_done: bool) -> dict[str, Any]:
    files, size, rows = _totals(planned)
    return {
        "is_done": is_done,
        "raw_days": retention.raw_days,
        "summary_days": retention.all_days,
        "runs": [
            {
                "run_id": pruning.run_id,
                "finished_at": pruning.finished_at,
                "summaries": pruning.is_last,
                "files": [{"name": file.name, "size": file.size} for file in pruning.files],
                "rows": pruning.rows,
            }
            for pruning in planned
        ],
        "files": files,
        "size": size,
        "rows": rows,
    }


def _totals(planned: list[Pruning]) -> tuple[int, int, int]:
    """Files, their bytes, and rows."""
    return (
        sum(len(pruning.files) for pruning in planned),
        sum(pruning.size for pruning in planned),
        sum(pruning.rows for pruning in planned),
    )


def size_text(size: int) -> str:
    """A human-readable size."""
    amount, unit = float(size), "B"
    for larger in ("kB", "MB", "GB"):
        if amount < _UNIT:
            break
        amount, unit = amount / _UNIT, larger
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
