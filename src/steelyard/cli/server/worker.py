"""`steelyard worker`: execute queued runs."""

from __future__ import annotations

import typer

from steelyard.cli.engine import (
    AddressOption,
    EngineChoice,
    EngineOption,
    ResourcesOption,
    SendEnvOption,
)
from steelyard.cli.opening import opened, print_warning


def command(
    engine: EngineOption = None,
    address: AddressOption = None,
    resources: ResourcesOption = None,
    send_env: SendEnvOption = None,
) -> None:
    """Execute queued runs of the project until Ctrl-C."""
    from steelyard.usecases.runs.swept_uploads import sweep_uploads
    from steelyard.worker import work

    on = EngineChoice(
        engine=engine, address=address, resources=resources or (), send_env=send_env or ()
    )
    on.export()
    with opened() as project:
        on.over(project.settings.engine)
        project.spool.require_ready()
        # Copies that a worker has left here which was killed; no server need run on this host.
        sweep_uploads(project.spool, project.run_queue)
    typer.echo(f"executing queued runs of {project.root}  (Ctrl-C stops)", err=True)
    work(str(project.root), print_warning)
