"""`steelyard serve`: serve the project over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.opening import opened
from steelyard.cli.terminal import show


def command(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")
    ] = 8765,
    workers: Annotated[
        int, typer.Option(min=0, max=64, help="Worker processes that execute queued runs.")
    ] = 1,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Start no worker; see `steelyard worker`.")
    ] = False,
    spool_quota: Annotated[
        float, typer.Option(min=0, metavar="GB", help="Maximum size of posted datasets.")
    ] = 5.0,
) -> None:
    """Serve the project over HTTP and execute posted runs."""
    from steelyard.api.serving import ServerSettings
    from steelyard.run_execution import executing
    from steelyard.server import serve

    settings = ServerSettings(
        host=host,
        port=port,
        workers=0 if no_worker else workers,
        spool_quota=int(spool_quota * 1024**3),
    )
    project = opened()
    serve(
        project,
        settings,
        lambda url: show(f"serving {url}  (Ctrl-C stops)"),
        lambda: executing(project, settings),
    )
