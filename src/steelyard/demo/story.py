"""The demo's project on disk."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from steelyard.errors import InvalidError
from steelyard.model.labels.queue import QueueSource
from steelyard.store.file_names import remove_folder
from steelyard.usecases.review.queues.create_queue import Fill, NewQueue, create_queue
from steelyard.usecases.review.queues.ports import QueuePorts

_MARKER = "datasets/opening-day.yaml"


def copy_project(folder: Path) -> Path:
    """Copy the bundled project; what is there already is left as it is.

    A folder that holds something other than an earlier demo is refused.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARKER).is_file():
        raise InvalidError(f"{folder} is not empty; name another folder for the demo")
    with as_file(files("steelyard.demo").joinpath("project")) as bundle:
        for source in sorted(bundle.rglob("*")):
            copy = folder / source.relative_to(bundle)
            if source.is_file() and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
    return folder


def make_queue(ports: QueuePorts, run_id: str) -> int:
    """A queue of all conversations of a run, for two people each; the number of its items."""
    new = NewQueue(
        name="Conversations at the desk",
        source=QueueSource(kind="run", id=run_id),
        fill=Fill(size=8),
        reviews_required=2,
        instructions="Read the whole conversation, then answer by the house rules.",
    )
    return create_queue(ports, new).items


def tampered_copy(run: Path, copy: Path) -> Path:
    """A copy of a sealed run in which one byte of the predictions is another."""
    if copy.exists():
        remove_folder(copy)
    shutil.copytree(run, copy)
    predictions = copy / "predictions.jsonl"
    predictions.chmod(0o600)
    data = bytearray(predictions.read_bytes())
    data[len(data) // 2] ^= 1
    predictions.write_bytes(data)
    return copy
