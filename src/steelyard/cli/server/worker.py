"""`steelyard worker`: execute queued runs."""

from __future__ import annotations

import typer

from steelyard.cli.opening import opened, print_warning


def command() -> None:
    """Execute queued runs of the project until Ctrl-C."""
    from steelyard.worker import work

    root = opened().root
    typer.echo(f"executing queued runs of {root}  (Ctrl-C stops)", err=True)
    work(str(root), print_warning)
