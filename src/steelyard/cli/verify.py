"""`steelyard verify`: check the artifacts of a run against their hashes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import painter, show, show_json


def command(
    run: FinishedRunName,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="Output format.")
    ] = OutputFormat.text,
) -> None:
    """Check every artifact against the manifest. Exit 1 if one was changed or is missing."""
    from steelyard.store.artifacts import digest_of
    from steelyard.usecases.results.find_run import find_run_folder
    from steelyard.usecases.results.verify import verify

    found = verify(find_run_folder(opened().result_ports(), run), digest_of)
    if output is OutputFormat.json:
        show_json({**asdict(found), "intact": found.is_intact})
    else:
        paint = painter()
        for file in found.files:
            style = {"intact": "good", "pruned": "warning"}.get(file.state, "error")
            message = f"  {file.message}" if file.message else ""
            show(f"{paint(f'{file.state:<9}', style)} {file.name}{message}")
    raise typer.Exit(0 if found.is_intact else 1)
