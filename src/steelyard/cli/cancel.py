"""`steelyard cancel`: stop a run and finalize its partial results."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat, RunName
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


def command(
    run: RunName,
    output: Annotated[OutputFormat, typer.Option("--format", help="Output format.")] = (
        OutputFormat.text
    ),
) -> None:
    """Stop a run and finalize its partial results. Exit 3 if it does not stop."""
    from steelyard.engine.states import is_terminal
    from steelyard.event_loop import run_async
    from steelyard.usecases.runs.cancel import cancel_run

    ports = opened().run_ports()
    stored = ports.repository.find(run)
    if is_terminal(stored.status):
        typer.echo(f"{stored.run_id} is finished already: {stored.status}", err=True)
    after = run_async(lambda: cancel_run(ports, stored))
    if output is OutputFormat.json:
        show_json({"run_id": after.run_id, "status": after.status})
    else:
        show(f"{after.run_id}  {after.status}")
    if not is_terminal(after.status):
        typer.echo(f"its process ({after.owner}) has not stopped yet; try again", err=True)
        raise typer.Exit(3)
