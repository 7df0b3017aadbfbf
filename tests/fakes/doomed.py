"""Processes that run a dataset and kill themselves at a named point, as a power cut would.

Started as `python doomed.py ROOT`; for each point there is a project in ROOT, with its number.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fakes.projects import Project
from fakes.targets import ScriptedTarget
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.results.artifacts import MANIFEST
from steelyard.store import artifacts
from steelyard.store.runs import ledger, row_writer
from steelyard.store.runs import repository as runs

AT_ONCE = 4
CALLS = "calls"
POINTS = (
    "before call",
    "after call",
    "before commit",
    "in commit",
    "after commit",
    "before finalizing",
    "in the move to finalizing",
    "after finalizing",
    "mid-artifact",
    "before rename",
    "after rename",
    "before rename of the manifest",
    "after rename of the manifest",
    "before the end",
    "after the end",
)


class CountingTarget(ScriptedTarget):
    """Notes every call in a file, so that those of a process that was killed are counted too."""

    def __init__(self, root: Path, *, name: str = "scripted", noted: str = CALLS) -> None:
        super().__init__(name=name)
        self._path = root / noted

    async def ask(self, request: Request) -> Trace:
        """An answer."""
        with self._path.open("ab", buffering=0) as stream:
            stream.write(b".")
        return await super().ask(request)


def die() -> None:
    """At once, without a word to anybody."""
    os.kill(os.getpid(), signal.SIGKILL)


def around(owner: object, name: str, number: int, before: bool, of: str = "") -> None:
    """Die before or after the nth call of a function, or the nth that speaks of something."""
    whole: Callable[..., Any] = getattr(owner, name)
    left = number

    def doomed(*words: Any, **more: Any) -> Any:
        nonlocal left
        left -= any(of in str(word) for word in words)
        if before and left == 0:
            die()
        answer = whole(*words, **more)
        if not before and left == 0:
            die()
        return answer

    setattr(owner, name, doomed)


class DoomedTarget(CountingTarget):
    """Dies before or after an answer."""

    def __init__(self, root: Path, point: str) -> None:
        super().__init__(root)
        self._point = point

    async def ask(self, request: Request) -> Trace:
        """An answer, unless it is the ninth."""
        is_last = len(self.calls) == 8
        if is_last and self._point == "before call":
            die()
        answer = await super().ask(request)
        if is_last and self._point == "after call":
            die()
        return answer


def half_written(self: artifacts.ArtifactFileDraft, data: bytes) -> None:
    """The first bytes of a row are on the disk, and no more."""
    stream = self._stream  # pyright: ignore[reportPrivateUsage]
    stream.write(data[: len(data) // 2])
    stream.flush()
    die()


def prepare(point: str) -> None:
    """Put the end where it belongs."""
    match point:
        case "before commit" | "after commit":
            around(ledger.BatchLedger, "_commit", 2, point == "before commit")
        case "in commit":
            around(row_writer.RowWriter, "_insert", 2, before=False)
        case "before finalizing" | "after finalizing":
            around(runs.RunStore, "move", 1, point == "before finalizing", of="finalizing")
        case "in the move to finalizing":
            around(runs, "move_run", 1, before=False, of="finalizing")
        case "mid-artifact":
            artifacts.ArtifactFileDraft.write = half_written
        case "before rename" | "after rename":
            around(os, "link", 1, point == "before rename", of="predictions.jsonl")
        case "before rename of the manifest" | "after rename of the manifest":
            around(os, "link", 1, point.startswith("before"), of=MANIFEST)
        case "before the end" | "after the end":
            around(runs.RunStore, "finish", 1, point == "before the end")
        case _:
            pass


def run_until(root: Path, point: str) -> None:
    """Run the dataset of a project until the point is reached."""
    prepare(point)
    project = Project(root)
    target = DoomedTarget(root, point)
    project.run(project.ports(target), Path("d.jsonl"), max_concurrency=AT_ONCE)


def one_by_one(root: Path, points: Sequence[str], run_until: Callable[[Path, str], None]) -> None:
    """A process for each point, which would otherwise spend most of its life with imports."""
    for number, point in enumerate(points):
        child = os.fork()
        if not child:
            run_until(root / str(number), point)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")


if __name__ == "__main__":
    one_by_one(Path(sys.argv[1]), POINTS, run_until)
