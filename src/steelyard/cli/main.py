"""The command line: adds the commands and turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from steelyard import __version__
from steelyard.cli import demo, schema, validate
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
app.command("validate")(validate.command)
app.command("schema")(schema.command)
app.command("demo")(demo.command)

# The one table from errors to exit codes; the first class that fits decides.
EXIT_CODES: tuple[tuple[type[BaseException], int], ...] = (
    (UsageError, 2),
    (SteelyardError, 3),
    (KeyboardInterrupt, 130),
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
    """Run the command line."""
    try:
        app()
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does; nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (SteelyardError, KeyboardInterrupt) as error:
        if str(error):
            typer.echo(f"steelyard: {error}", err=True)
        sys.exit(next(code for kind, code in EXIT_CODES if isinstance(error, kind)))
