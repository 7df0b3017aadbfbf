"""`--server`: the runs of a server, read from a private copy that is a project of its own."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from steelyard.cli.opening import opened, print_warning

if TYPE_CHECKING:
    from steelyard.client.downloads import Download
    from steelyard.client.remote import RemoteRun
    from steelyard.client.sync_client import Client
    from steelyard.project import Project

ServerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="STEELYARD_SERVER",
        show_envvar=False,
        metavar="URL",
        help="Use the runs of this server; the key is in STEELYARD_KEY.",
    ),
]


class ReadableRuns(NamedTuple):
    """Runs, and the project in which their names lead somewhere."""

    project: Project
    names: list[str]


@contextmanager
def readable_runs(server: str | None, names: Sequence[str]) -> Generator[ReadableRuns]:
    """The runs of the project; of a server, their artifacts, which are removed afterwards.

    The folder of a run is read where it is, so that it can be compared with a server's.
    """
    if server is None:
        yield ReadableRuns(opened(), list(names))
        return
    from steelyard.client.sync_client import Client

    with private_project() as project, Client(server) as client:
        found = [_copied(client, name, project.root) for name in names]
        yield ReadableRuns(project, found)


@contextmanager
def private_project() -> Generator[Project]:
    """A project in a folder that nobody else can read, removed afterwards."""
    from tempfile import TemporaryDirectory

    from steelyard.project import open_project

    with (
        TemporaryDirectory(prefix="steelyard-", ignore_cleanup_errors=True) as folder,
        open_project(folder, warn=print_warning) as project,
    ):
        yield project


def copy_run(client: Client, run_id: str, root: Path, *, allow_refused: bool = False) -> Download:
    """Fetch the artifacts of a run to where a project has them, and note which are pruned."""
    from steelyard.client.downloads import download
    from steelyard.results.pruned import PRUNED, PrunedFile, pruned_line

    store = root / ".steelyard"
    found = download(
        client.transport, run_id, store / "runs" / run_id, allow_refused=allow_refused
    )
    with (store / PRUNED).open("ab") as notes:
        for one in found.pruned:
            gone = PrunedFile(
                run_id=run_id,
                name=one.name,
                at=one.pruned_at or "",
                sha256=one.sha256,
                size=one.size,
            )
            notes.write(pruned_line(gone))
    return found


def unfinished_run(server: str, name: str) -> RemoteRun | None:
    """A run of a server that has no artifacts: one that goes on, or failed."""
    from steelyard.client.sync_client import Client

    if is_local(name):
        return None
    with Client(server) as client:
        run = client.run(name)
    return run if run.status == "failed" or not run.is_finished else None


def remote_status(run: RemoteRun) -> str:
    """The status of a run on a server, as people read it."""
    from steelyard.usecases.runs.ownership import CANCELLING, STOPPED, UNRESUMABLE

    if run.unresumable:
        return UNRESUMABLE
    if run.cancelling:
        return CANCELLING
    return STOPPED if run.resumable else run.status


def is_local(name: str) -> bool:
    """Whether a name is the folder of a run on this machine."""
    from steelyard.model.names import can_be_path
    from steelyard.usecases.results.read_run import holds_artifacts

    return can_be_path(Path(name)) and holds_artifacts(Path(name))


def _copied(client: Client, name: str, root: Path) -> str:
    if is_local(name):
        return str(Path(name).absolute())
    return str(copy_run(client, client.run(name).run_id, root).folder)
