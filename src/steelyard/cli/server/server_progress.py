"""Follow a run on a server: what grades it, how far it is, and whether a worker takes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.cli.opening import print_warning
from steelyard.cli.plans import print_graders
from steelyard.cli.running import ProgressLine

if TYPE_CHECKING:
    from steelyard.client.remote import RemoteEvent, RemoteRun
    from steelyard.client.sync_client import Client

_PATIENCE_S = 3.0
_EXECUTED = ("validating", "running", "retrying", "finalizing")


def follow_run(client: Client, title: str, run_id: str, *, is_quiet: bool) -> RemoteRun:
    """The run once it has ended, or waits for `resume`."""
    run = client.run(run_id)
    if run.grading:
        print_graders(run.grading)
    with (
        _noticing_no_worker(client, run_id) as taken,
        ProgressLine(title, run.progress.total, is_quiet=is_quiet) as progress,
    ):

        def note(event: RemoteEvent) -> None:
            told = event.data
            if event.kind == "progress":
                progress.reach(told.get("done", 0), told.get("failed", 0), told.get("total"))
            elif event.kind == "warning":
                print_warning(str(told.get("message", "")))
            elif told.get("state") != "queued":
                taken()

        return client.wait(run_id, on_event=note)


@contextmanager
def _noticing_no_worker(client: Client, run_id: str) -> Generator[Callable[[], None]]:
    """Warn once if no worker takes the run; call what is yielded when one has."""
    is_over = threading.Event()
    watch = threading.Thread(target=_watch, args=(client, run_id, is_over), daemon=True)
    watch.start()
    try:
        yield is_over.set
    finally:
        is_over.set()


def _watch(client: Client, run_id: str, is_over: threading.Event) -> None:
    from steelyard.errors import SteelyardError

    while not is_over.wait(_PATIENCE_S):
        try:
            is_missing = _has_no_worker(client, run_id)
        except SteelyardError:
            return  # whoever follows the run meets the same error
        if is_missing and not is_over.is_set():
            print_warning("no worker is running; start one with `steelyard worker`")
            return


def _has_no_worker(client: Client, run_id: str) -> bool:
    """Whether a run waits though no other one is executed, which would come first."""
    if client.run(run_id).status != "queued":
        return False
    others = (run for status in _EXECUTED for run in client.runs(status=status))
    return all(run.resumable for run in others)
