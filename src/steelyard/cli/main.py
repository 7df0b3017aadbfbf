"""The command line: adds the commands and turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from steelyard import __version__
from steelyard.cli import (
    cancel,
    compare,
    completion,
    convert,
    demo,
    export,
    init,
    prune,
    regrade,
    report,
    resume,
    retry,
    run,
    runs,
    schema,
    show,
    validate,
    verify,
)
from steelyard.cli.arguments import refuse_empty
from steelyard.cli.registry import dataset_commands, definition_commands
from steelyard.cli.review.review import review_commands
from steelyard.cli.server import backup, serve, worker
from steelyard.cli.server.key import key_commands
from steelyard.cli.server.user import user_commands
from steelyard.cli.suggestions import with_suggestion
from steelyard.cli.terminal import error_text, prepare_streams
from steelyard.cli.terminal import show as show_line
from steelyard.errors import RequestError, RunError, SteelyardError
from steelyard.operating_system import end_at_once

_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.command,
    "init": init.command,
    "validate": validate.command,
    "run": run.command,
    "resume": resume.command,
    "cancel": cancel.command,
    "retry": retry.command,
    "regrade": regrade.command,
    "runs": runs.command,
    "show": show.command,
    "compare": compare.command,
    "report": report.command,
    "export": export.command,
    "convert": convert.command,
    "verify": verify.command,
    "prune": prune.command,
    "schema": schema.command,
    "completion": completion.command,
    "serve": serve.command,
    "backup": backup.backup_command,
    "restore": backup.restore_command,
    "worker": worker.command,
}
_GROUPS: dict[str, Callable[[], typer.Typer]] = {
    "rubric": partial(definition_commands, "rubric"),
    "judge": partial(definition_commands, "judge"),
    "dataset": dataset_commands,
    "review": review_commands,
    "user": user_commands,
    "key": key_commands,
}

# Exit codes by error class; the first match wins.
EXIT_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (RequestError, 2),
    (SteelyardError, 3),
    (OSError, 2),
    (KeyboardInterrupt, 130),
    (Exception, 3),
)


class _Commands(TyperGroup):
    """All commands; user code that calls `sys.exit` never makes a command succeed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        refuse_empty(self, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except SystemExit as ended:
            raise RunError(f"the command was ended by SystemExit: {ended}") from ended


def _print_version(wanted: bool) -> None:
    if wanted:
        show_line(f"steelyard {__version__}")
        raise typer.Exit


def application(asked: str | None = None) -> typer.Typer:
    """The command line; given the name of a command, only that command.

    Building all commands takes longer than running most of them.
    """
    app = typer.Typer(
        name="steelyard",
        cls=_Commands,
        help="Evaluate language models and agents with numbers you can defend.",
        rich_markup_mode=None,
        add_completion=False,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    is_known = asked in _COMMANDS or asked in _GROUPS
    for name, command in _COMMANDS.items():
        if name == asked or not is_known:
            app.command(name)(command)
    for name, group in _GROUPS.items():
        if name == asked or not is_known:
            app.add_typer(group(), name=name)
    return app


@cache
def command_line(asked: str | None = None) -> Callable[..., Any]:
    """The command line as a callable; cached, because reading the signatures is slow."""
    return typer.main.get_command(application(asked))


def _options(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Evaluate language models and agents with numbers you can defend."""
    context.obj = command_line


def main() -> None:
    """Run the command line; an error is one line on stderr and an exit code."""
    prepare_streams()
    try:
        command_line(next(iter(sys.argv[1:]), None))(prog_name="steelyard")
    except SystemExit as ended:
        end_at_once(ended.code)
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - last resort
        _print_error(error)
        code = next(code for kind, code in EXIT_CODES if isinstance(error, kind))
        end_at_once(code)
        sys.exit(code)


def _print_error(error: BaseException) -> None:
    from steelyard.reports.findings import printable

    if isinstance(error, KeyboardInterrupt):
        return
    if os.environ.get("STEELYARD_DEBUG"):
        import traceback

        traceback.print_exception(error)
    message = error_text(error)
    if isinstance(error, OSError) and error.strerror:
        message = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    elif not isinstance(error, SteelyardError | OSError):
        message = (
            f"this is a bug: {type(error).__name__}: {message}; please report it with what the "
            "same command prints under STEELYARD_DEBUG=1"
        )
    for line in with_suggestion(f"steelyard: {message}", error, sys.argv[1:]):
        typer.echo(printable(line), err=True)
