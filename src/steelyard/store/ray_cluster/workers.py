"""Workers on the nodes of a Ray cluster, seen from the process that holds the run."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.errors import EngineAwayError, RunError, UnavailableError
from steelyard.execution.parts import Part
from steelyard.execution.ports import Answer, HolderQuestion, WorkerNeeds
from steelyard.model.upload import upload_of
from steelyard.results.stored_run import require_plan
from steelyard.settings import EngineSettings
from steelyard.store.installed import installed_plugins
from steelyard.store.ray_cluster.cluster import (
    RayOptions,
    cluster_cpus,
    connect,
    disconnect,
    hint,
    is_head_there,
    reason_of,
)
from steelyard.store.ray_cluster.node_worker import GivenProject, NodeWorker
from steelyard.store.ray_cluster.sent_files import (
    ShownFiles,
    files_to_send,
    variables_to_send,
)
from steelyard.store.ray_cluster.shipment import Pieces, pack_files, pack_run, pack_upload
from steelyard.store.ray_cluster.versions import installed_versions
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.worker_pipe import (
    CANCELLED,
    KEPT,
    STOPPED,
    WorkerJob,
    message,
    written_answer,
)
from steelyard.store.spool.spool_key import SPOOL_KEY, written_key
from steelyard.store.spool.uploads import Spool

KILLED = -9
_LOOK_S = 2.0
_NO_ROOM_S = 600.0
_HEAD_AWAY_S = 15.0
"""A head that has a store of its own may come back."""
_MUCH = 500 * 1024 * 1024


class _SentFiles(NamedTuple):
    """What the workers of a run unpack, and the variables that it is read with."""

    archives: Sequence[Sequence[Any]]
    environment: Mapping[str, str]
    inner: str
    """Where the project is in the first of them."""


class RayWorker:
    """An actor that begins as soon as a node has room for it."""

    def __init__(self, pool: RayWorkers, actor: Any, begin: Callable[[Any], Any]) -> None:
        self.why = ""
        """Why it was lost, or the last that its process has written."""
        self._pool = pool
        self._actor: Any = actor
        self._begun = asyncio.ensure_future(self._begin(begin))
        self._early: list[bytes] | None = []
        """What it is told before it has begun."""
        self._is_lost = False

    async def read(self) -> bytes | HolderQuestion:
        """The rows that it wants to be kept next, or a question; nothing when it is through."""
        try:
            await asyncio.shield(self._begun)
            return message(self._heard(await self._pool.answer(self._actor.read.remote())))
        except self._pool.lost as error:
            self._is_lost = True
            self.kill()  # it may only be out of reach
            self.why = reason_of(error)
            await self._pool.require_head()
            return b""

    def answer(self, question: HolderQuestion, answer: Answer) -> None:
        """The answer to a question of it."""
        self._tell(written_answer(question, answer))

    def confirm(self) -> None:
        """What it wanted to be kept is kept."""
        self._tell(KEPT)

    def cancel(self) -> None:
        """It shall make no further call, and keep what is left as cancelled."""
        self._tell(CANCELLED)

    async def wait(self) -> int:
        """Its exit code; negative when it, its process or its node was killed."""
        if self._is_lost:
            return KILLED
        try:
            return self._heard(await self._pool.answer(self._actor.wait.remote()))
        except self._pool.lost as error:
            self.why = reason_of(error)
            return KILLED

    def stop(self) -> None:
        """It shall break off its calls, and keep that it has."""
        if self._early is None:
            self._tell(STOPPED)
        else:
            self._begun.cancel()

    def terminate(self) -> None:
        """Ask it to end; what it still wants to be kept is not."""
        self._actor.hang_up.remote()

    def kill(self) -> None:
        """Stop it."""
        self._pool.kill(self._actor)

    def close(self) -> None:
        """Let go of it; it removes its files."""
        self._pool.leave(self)
        self._begun.cancel()
        if self._early is None and not self._is_lost:
            self._actor.end.remote()
        self._actor = None  # Ray ends an actor that nobody can call any more

    async def _begin(self, begin: Callable[[Any], Any]) -> None:
        beginning = asyncio.ensure_future(asyncio.to_thread(begin, self._actor))
        refusal = await self._pool.room_for(await beginning)
        if refusal:
            raise RunError(f"{refusal}; install the same versions on every node")
        early, self._early = self._early or [], None
        self._pool.join(self)
        for data in early:
            self._tell(data)

    def _tell(self, data: bytes) -> None:
        if self._early is None:
            self._actor.tell.remote(data)
        else:
            self._early.append(data)

    def _heard(self, found: tuple[Any, Sequence[str]]) -> Any:
        answer, lines = found
        sys.stderr.writelines(lines)
        self.why = next((line.strip() for line in reversed(lines) if line.strip()), self.why)
        return answer


class RayWorkers:
    """Starts actors for the runs of a project; the cluster is connected when it is needed."""

    is_remote = True

    def __init__(
        self,
        root: Path,
        store: Callable[[], RunStore],
        spool: Spool,
        engine: EngineSettings,
        shown: ShownFiles,
    ) -> None:
        self._root = root
        self._store = store
        self._spool = spool
        self._options = RayOptions.of(engine)
        self._shown = shown
        self._ray: Any = None
        self._at_work: set[RayWorker] = set()
        self._worked_at = self._looked_at = self._head_at = time.monotonic()
        self._files: dict[str, _SentFiles] = {}
        """What was sent for each run: its files do not change while it runs."""
        self._sending = threading.Lock()
        self._asked_for: set[str] = set()
        """The runs that the cluster was asked to have room for."""
        self.lost: tuple[type[Exception], ...] = ()
        """The errors that say that an actor or its node is gone."""

    def connect(self) -> int:
        """Connect to the cluster; how many CPUs it has."""
        if self._ray is None:
            self._options.values()
            self._ray = connect(self._options)
            self._head_at = time.monotonic()
            names = ("RayActorError", "NodeDiedError", "ObjectLostError", "WorkerCrashedError")
            self.lost = tuple(getattr(self._ray.exceptions, name) for name in names)
        return cluster_cpus(self._ray)

    def warm(self, count: int) -> None:  # noqa: ARG002
        """Connect; what workers take of the cluster is known when their run is planned."""
        self.connect()

    def start(
        self, run_id: str, part: Part, targets: Sequence[str], needs: WorkerNeeds
    ) -> RayWorker:
        """A worker for a part of a run, which reads a copy of the project on its node."""
        self.connect()
        options = self._options.needing(needs.resources)
        if run_id not in self._asked_for:
            self._asked_for.add(run_id)
            hint(self._ray, options, part.of, needs.warn)
        job = WorkerJob(run_id, (part.number, part.of), tuple(targets), installed_plugins())

        def begin(actor: Any) -> Any:
            files, rows = self._sent_files(run_id, needs), self._sent_rows(run_id)
            known = {**self._options.values(), **files.environment}
            given = GivenProject(known, files.inner)
            return actor.begin.remote(installed_versions(), job, given, *files.archives, rows)

        return RayWorker(self, self._actor(options), begin)

    def close(self) -> None:
        """Disconnect."""
        if self._ray is None:
            return
        self._files.clear()
        self._asked_for.clear()
        disconnect(self._ray, self._options)
        self._ray = None

    def _actor(self, options: RayOptions) -> Any:
        """A new actor, somewhere; it begins when a node has room."""
        made = self._ray.remote(NodeWorker)
        return made.options(**options.actor_options()).remote()

    def kill(self, actor: Any) -> None:
        """Kill an actor, with its process."""
        with suppress(Exception):  # it is gone already
            self._ray.kill(actor)

    async def answer(self, reference: Any) -> Any:
        """What an actor answers, for as long as the head of the cluster is there.

        Ray itself ends the process of a driver a minute after its head.
        """
        answer = asyncio.ensure_future(_awaited(reference))
        try:
            while not answer.done():
                await asyncio.wait([answer], timeout=_LOOK_S)
                if not answer.done():
                    await self._look_at_head()
            return answer.result()
        finally:
            answer.cancel()

    async def _look_at_head(self) -> None:
        now = time.monotonic()
        if now - self._looked_at < _LOOK_S:
            return
        self._looked_at = now
        if await asyncio.to_thread(is_head_there, self._ray):
            self._head_at = time.monotonic()
        elif now - self._head_at > _HEAD_AWAY_S:
            raise self._head_is_gone()

    def _head_is_gone(self) -> EngineAwayError:
        address = self._ray.get_runtime_context().gcs_address
        return EngineAwayError(
            f"the head of the Ray cluster at {address} is gone; with another one, or without Ray, "
            "the run goes on with: steelyard resume"
        )

    async def require_head(self) -> None:
        """An actor is gone, and perhaps not alone."""
        if not await asyncio.to_thread(is_head_there, self._ray):
            raise self._head_is_gone()

    def join(self, worker: RayWorker) -> None:
        """A worker has begun."""
        self._at_work.add(worker)

    def leave(self, worker: RayWorker) -> None:
        """A worker has ended."""
        self._at_work.discard(worker)
        self._worked_at = time.monotonic()

    async def room_for(self, beginning: Any) -> str:
        """Wait until an actor has begun, for as long as others are at work; why it cannot be."""
        answer = asyncio.ensure_future(_awaited(beginning))
        try:
            while not answer.done():
                await asyncio.wait([answer], timeout=_LOOK_S)
                if self._at_work:
                    self._worked_at = time.monotonic()
                elif time.monotonic() - self._worked_at > _NO_ROOM_S:
                    raise UnavailableError(
                        f"no node of the Ray cluster had room for a worker for {_NO_ROOM_S:.0f} s"
                    )
            return answer.result()
        except self.lost as error:
            if "No module named 'steelyard" in str(error):
                here = installed_versions().steelyard
                raise RunError(
                    f"a node of the Ray cluster lacks Steelyard {here}: install 'steelyard[ray]' "
                    "in the same version on every node"
                ) from None
            raise
        except self._ray.exceptions.RayTaskError as error:
            raise RunError(f"a worker cannot begin on its node: {reason_of(error)}") from None
        finally:
            answer.cancel()

    def _sent_files(self, run_id: str, needs: WorkerNeeds) -> _SentFiles:
        """The project, and a posted dataset with the key that opens this copy of it."""
        with self._sending:
            if run_id not in self._files:
                self._files[run_id] = self._send_files(run_id, needs)
            return self._files[run_id]

    def _send_files(self, run_id: str, needs: WorkerNeeds) -> _SentFiles:
        run = self._store().find(run_id)
        files = Pieces(self._ray.put)
        sent = files_to_send(self._root, run, self._shown, needs.files)
        pack_files(sent, files)
        if files.size > _MUCH:
            needs.warn(
                f"{files.size / 1e6:,.0f} MB of {self._root} are sent to every worker; what the "
                "run does not read should lie elsewhere"
            )
        known = variables_to_send(self._root, self._shown.folders)
        options = require_plan(run).options
        upload = upload_of(options.dataset)
        if upload is None or options.derived:  # which reads the folder of its parent
            return _SentFiles([files.finish()], known, sent.inner)
        posted = Pieces(self._ray.put)
        key = pack_upload(self._spool, upload, posted)
        known[SPOOL_KEY] = written_key(key)
        return _SentFiles([files.finish(), posted.finish()], known, sent.inner)

    def _sent_rows(self, run_id: str) -> Sequence[Any]:
        """The run as it stands now."""
        store = self._store()
        rows = Pieces(self._ray.put)
        pack_run(store.engine, store.find(run_id), rows)
        return rows.finish()


async def _awaited(reference: Any) -> Any:
    return await reference
