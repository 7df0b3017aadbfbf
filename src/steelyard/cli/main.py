"""The command line: adds the commands and turns errors into exit codes."""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated

import typer

from steelyard import __version__
from steelyard.cli import (
    cancel,
    compare,
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
from steelyard.cli.registry import dataset_commands, definition_commands
from steelyard.cli.review import review_commands
from steelyard.cli.terminal import prepare_streams
from steelyard.errors import SteelyardError, UsageError

app = typer.Typer(
    name="steelyard",
    help="Evaluate language models and agents with numbers you can defend.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module, name in (
    (demo, "demo"),
    (init, "init"),
    (validate, "validate"),
    (run, "run"),
    (resume, "resume"),
    (cancel, "cancel"),
    (retry, "retry"),
    (regrade, "regrade"),
    (runs, "runs"),
    (show, "show"),
    (compare, "compare"),
    (report, "report"),
    (export, "export"),
    (convert, "convert"),
    (verify, "verify"),
    (prune, "prune"),
    (schema, "schema"),
):
    app.command(name)(module.command)
app.add_typer(definition_commands("rubric"), name="rubric")
app.add_typer(definition_commands("judge"), name="judge")
app.add_typer(dataset_commands(), name="dataset")
app.add_typer(review_commands(), name="review")

# The one table from errors to exit codes; the first class that fits decides.
EXIT_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (UsageError, 2),
    (SteelyardError, 3),
    (OSError, 2),
    (KeyboardInterrupt, 130),
    (Exception, 3),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steelyard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Evaluate language models and agents with numbers you can defend."""


def main() -> None:
    """Run the command line; whatever goes wrong is one line on stderr and an exit code."""
    prepare_streams()
    logging.getLogger("steelyard").addHandler(_WarningsOnStderr(logging.WARNING))
    try:
        app(prog_name="steelyard")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last place to catch one
        _tell(error)
        sys.exit(next(code for kind, code in EXIT_CODES if isinstance(error, kind)))


class _WarningsOnStderr(logging.Handler):
    """Shows what the product logs, as one line each."""

    def emit(self, record: logging.LogRecord) -> None:
        from steelyard.reports.findings import printable

        typer.echo(f"steelyard: warning: {printable(record.getMessage())}", err=True)


def _tell(error: BaseException) -> None:
    from steelyard.reports.findings import printable

    if isinstance(error, KeyboardInterrupt):
        return
    if os.environ.get("STEELYARD_DEBUG"):
        import traceback

        traceback.print_exception(error)
    message = str(error)
    if isinstance(error, OSError) and error.strerror:
        message = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    elif not isinstance(error, SteelyardError | OSError):
        message = (
            f"this is a bug: {type(error).__name__}: {message}; please report it with what the "
            "same command prints under STEELYARD_DEBUG=1"
        )
    typer.echo(f"steelyard: {printable(message)}", err=True)
