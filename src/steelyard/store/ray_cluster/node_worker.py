"""The actor on a node: between Ray and the pipes of a worker process like those of this machine.

A process of its own, because targets may print, end or use up their process, and because the very
same one works on a part of a run wherever it is.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.project_file import variables
from steelyard.settings import SQLITE
from steelyard.store.file_locks import hold, is_let_go
from steelyard.store.ray_cluster.shipment import unpack
from steelyard.store.ray_cluster.versions import NodeVersions, installed_versions
from steelyard.store.runs.worker_pipe import WorkerJob
from steelyard.store.worker_processes import WorkerProcess

_PREFIX = "steelyard-part-"


class GivenProject(NamedTuple):
    """What is to know of the files that come along."""

    environment: Mapping[str, str]
    """The variables that they are read with."""
    inner: str = "."
    """Where the project is in the first archive; in the others it is what holds all."""


class NodeWorker:
    """Owns a worker process and the folder with the copy of the project that it reads."""

    def __init__(self) -> None:
        _sweep()
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = (self._folder / "lock").open("wb")
        hold(self._lock)
        self._process: WorkerProcess | None = None
        self._said: deque[str] = deque()

    async def begin(
        self,
        versions: NodeVersions,
        job: WorkerJob,
        given: GivenProject,
        *archives: Sequence[Any],
    ) -> str:
        """Start the process; why it cannot be, if so.

        It reads the copy that came along, wherever the store of the project is, by the settings
        that came along, whatever those of this node are.
        """
        refusal = NodeVersions(*versions).refusal(installed_versions(), platform.node())
        if refusal:
            return refusal
        given = GivenProject(*given)
        above = self._folder / "project"
        root = above / given.inner
        for place, pieces in zip(chain([above], repeat(root)), archives, strict=False):
            await asyncio.to_thread(unpack, _contents(pieces), place)
        known = {name: text for name, text in os.environ.items() if name not in variables()}
        known |= {**given.environment, "STEELYARD_STORE": SQLITE}
        self._process = WorkerProcess(root, environment=known, on_said=self._said.append)
        self._process.give(WorkerJob(*job))
        return ""

    async def read(self) -> tuple[bytes, list[str]]:
        """The next frame of the process, and what it has written on standard error."""
        content = await self._process.frame() if self._process else b""
        return content, self._taken()

    async def wait(self) -> tuple[int, list[str]]:
        """The exit code, and the last words."""
        code = await self._process.wait() if self._process else 0
        return code, self._taken()

    async def tell(self, data: bytes) -> None:
        """Pass on marks and answers of the holder."""
        if self._process:
            self._process.tell(data)

    async def hang_up(self) -> None:
        """Let the process end."""
        if self._process:
            self._process.terminate()

    async def end(self) -> None:
        """Let go of everything."""
        if self._process:
            self._process.kill()
            await asyncio.to_thread(self._process.close)
        self._lock.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _taken(self) -> list[str]:
        return [self._said.popleft() for _ in range(len(self._said))]


def _contents(pieces: Sequence[Any]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece if isinstance(piece, bytes) else import_module("ray").get(piece)


def _sweep() -> None:
    """Remove the folders of actors that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError), (folder / "lock").open("rb") as stream:
            if is_let_go(stream):
                shutil.rmtree(folder, ignore_errors=True)
