"""`steelyard serve`: serve the project over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.opening import opened
from steelyard.cli.server_access import needs_login, require_safe, trusted
from steelyard.cli.terminal import show


def command(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")
    ] = 8765,
    login: Annotated[
        bool, typer.Option("--login", help="Require login on a loopback address, too.")
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address that browsers use; needed off loopback."),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Proxy whose X-Forwarded-For is used; repeatable."),
    ] = None,
) -> None:
    """Serve the project over HTTP until Ctrl-C."""
    from steelyard.api.serving import ServerSettings
    from steelyard.server import serve

    settings = ServerSettings(
        host=host,
        port=port,
        has_login=needs_login(host, is_wanted=login),
        public_url=public_url,
        trusted_proxies=trusted(trusted_proxy),
    )
    project = opened()
    require_safe(project, settings)
    serve(project, settings, lambda url: show(f"serving {url}  (Ctrl-C stops)"))
