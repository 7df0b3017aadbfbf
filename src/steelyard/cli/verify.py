"""`steelyard verify`: check the artifacts of a run against their hashes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.arguments import FinishedRunName, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.server.server_runs import ServerOption, copy_run, is_local, private_project
from steelyard.cli.terminal import painter, show, show_json

if TYPE_CHECKING:
    from steelyard.usecases.results.verify import Verification


def command(
    run: FinishedRunName,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="Output format.")
    ] = OutputFormat.text,
    server: ServerOption = None,
) -> None:
    """Check every artifact against the manifest. Exit 1 if one was changed or is missing."""
    if server is None or is_local(run):
        found = opened().verification(run)
    else:
        found = _verify_remote(server, run)
    if output is OutputFormat.json:
        show_json({**asdict(found), "intact": found.is_intact})
    else:
        paint = painter()
        for file in found.files:
            style = {"intact": "good", "pruned": "warning"}.get(file.state, "error")
            message = f"  {file.message}" if file.message else ""
            show(f"{paint(f'{file.state:<9}', style)} {file.name}{message}")
    raise typer.Exit(0 if found.is_intact else 1)


def _verify_remote(server: str, name: str) -> Verification:
    """Fetch every artifact and check it; one that the server refuses to send is not intact."""
    from steelyard.client.sync_client import Client
    from steelyard.errors import ConflictError
    from steelyard.results.artifacts import ARTIFACTS, MANIFEST
    from steelyard.store.artifacts import digest_of
    from steelyard.usecases.results.verify import ArtifactState, Verification, verify

    with Client(server) as client, private_project() as project:
        run = client.run(name)
        run_id = run.run_id
        if not run.is_finished:
            raise ConflictError(f"{run_id} is not finished: {run.status}")
        copied = copy_run(client, run_id, project.root, allow_refused=True)
        refused = {
            one: ArtifactState(name=one, state="changed", message=copied.refused[one])
            for one in ARTIFACTS
            if one in copied.refused
        }
        files = tuple(refused.values())
        if MANIFEST not in refused:
            found = verify(copied.folder, digest_of)
            files = tuple(refused.get(one.name, one) for one in found.files)
        return Verification(
            run_id=run_id, folder=f"{client.address}/v1/runs/{run_id}", files=files
        )
