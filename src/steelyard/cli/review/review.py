"""`steelyard review`: labels by people, from the shell."""

from __future__ import annotations

import typer

from steelyard.cli.review import (
    review_agreement,
    review_assign,
    review_export,
    review_import,
    review_judge,
    review_queues,
)


def review_commands() -> typer.Typer:
    """The commands of review."""
    app = typer.Typer(
        help="Labels by people: assign, import, export, agreement, queues.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    for module, name in (
        (review_assign, "assign"),
        (review_import, "import"),
        (review_export, "export"),
        (review_agreement, "agreement"),
        (review_queues, "queues"),
        (review_judge, "judge"),
    ):
        app.command(name)(module.command)
    return app
