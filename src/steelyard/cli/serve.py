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
) -> None:
    """Serve the project over HTTP until Ctrl-C."""
    from steelyard.api.serving import ServerSettings
    from steelyard.server import serve

    settings = ServerSettings(host=host, port=port)
    serve(opened(), settings, lambda url: show(f"serving {url}  (Ctrl-C stops)"))
