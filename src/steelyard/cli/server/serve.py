"""`steelyard serve`: serve the project over HTTP."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.engine import (
    AddressOption,
    EngineChoice,
    EngineOption,
    ResourcesOption,
    SendEnvOption,
)
from steelyard.cli.opening import opened
from steelyard.cli.running import require_number
from steelyard.cli.server.server_access import needs_login, require_safe, trusted
from steelyard.cli.terminal import show

if TYPE_CHECKING:
    from steelyard.api.log_lines import LogFormat
    from steelyard.api.serving import ServerSettings
    from steelyard.project import Project


class LogStyle(StrEnum):
    """How log lines are written."""

    auto = "auto"
    json = "json"
    text = "text"


class LogLevel(StrEnum):
    """From which level on log lines are written."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


def command(  # noqa: PLR0913, PLR0917 - one parameter an option
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
    engine: EngineOption = None,
    address: AddressOption = None,
    resources: ResourcesOption = None,
    send_env: SendEnvOption = None,
    spool_quota: Annotated[
        float,
        typer.Option(
            callback=require_number, min=0, metavar="GB", help="Maximum size of posted datasets."
        ),
    ] = 5.0,
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
    log_format: Annotated[
        LogStyle, typer.Option(help="Log format; auto: text on a terminal, else json.")
    ] = LogStyle.auto,
    log_level: Annotated[LogLevel, typer.Option(help="Lowest level to log.")] = LogLevel.info,
    reload: Annotated[
        bool,
        typer.Option("--reload", help="Restart when a plug-in or the project file changes."),
    ] = False,
) -> None:
    """Serve the project over HTTP and execute posted runs."""
    from steelyard.api.log_lines import set_up_logging
    from steelyard.api.serving import ServerSettings
    from steelyard.garbage_collection import tune_garbage_collection
    from steelyard.ports import log_warning
    from steelyard.run_execution import executing
    from steelyard.server import serve

    on = EngineChoice(
        engine=engine, address=address, resources=resources or (), send_env=send_env or ()
    )
    on.export()
    if reload:
        from steelyard.cli.server.reloading import serve_reloading

        raise typer.Exit(serve_reloading(opened()))
    settings = ServerSettings(
        host=host,
        port=port,
        has_login=needs_login(host, is_wanted=login),
        public_url=public_url,
        trusted_proxies=trusted(trusted_proxy),
        workers=0 if no_worker else workers,
        log_format=_log_format(log_format),
        log_level=log_level.value,
        spool_quota=int(spool_quota * 1024**3),
    )
    set_up_logging(settings.log_format, settings.log_level)
    with opened(warn=log_warning) as project:
        on.over(project.settings.engine)
        require_safe(project, settings)
        set_up_logging(settings.log_format, settings.log_level, project.secrets())
        tune_garbage_collection()
        serve(
            project,
            settings,
            lambda url: _show_address(project, settings, url),
            lambda: executing(project, settings),
        )


def _show_address(project: Project, settings: ServerSettings, url: str) -> None:
    login = "login required" if settings.has_login else "no login, this machine only"
    address = (settings.public_url or url).rstrip("/")
    show(f"open {address}/ in a browser  ({login})")
    show(f"  project  {project.root}")
    show(f"  API      {address}/docs")
    if not settings.has_login:
        show("  behind a proxy, start it with --login --public-url")
    show("  Ctrl-C stops; twice stops at once")
    sys.stdout.flush()


def _log_format(style: LogStyle) -> LogFormat:
    is_text = style is LogStyle.text or (style is LogStyle.auto and sys.stderr.isatty())
    return "text" if is_text else "json"
