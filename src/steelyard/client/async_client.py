"""`steelyard.AsyncClient`: the methods of `Client`, awaited.

Each call is made by a thread, so that there is one implementation. A call that is cancelled
closes its connection, and its thread ends at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from steelyard.client.cancellation import Cancellation, set_cancellation
from steelyard.client.remote_catalog import RemoteCatalog, RemoteSettings
from steelyard.client.remote_review import RemoteReview
from steelyard.client.sync_client import Client

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
Sync = TypeVar("Sync")
_MAX_CALLS = 64
_END: Any = object()


class ThreadedCalls(Generic[Sync]):
    """Something whose synchronous twin is called in threads."""

    def __init__(self, twin: Sync, threads: ThreadPoolExecutor) -> None:
        self.twin = twin
        self.threads = threads

    async def call(self, made: _Call, function: Callable[[], Returned]) -> Returned:
        """What a function returns, unless the caller stops waiting."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self.threads, made.context.run, function)
        except asyncio.CancelledError:
            made.cancellation.cancel()
            raise


class _Call:
    """What the steps of one call share."""

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.context = copy_context()
        self.context.run(set_cancellation, self.cancellation)


def _awaited(
    method: Callable[Concatenate[Sync, Given], Returned],
) -> Callable[Concatenate[ThreadedCalls[Sync], Given], Coroutine[Any, Any, Returned]]:
    """The method, awaited."""

    @wraps(method)
    async def call(
        self: ThreadedCalls[Sync], *args: Given.args, **kwargs: Given.kwargs
    ) -> Returned:
        return await self.call(_Call(), partial(method, self.twin, *args, **kwargs))

    return call


def _iterated(
    method: Callable[Concatenate[Sync, Given], Iterator[Returned]],
) -> Callable[Concatenate[ThreadedCalls[Sync], Given], AsyncGenerator[Returned]]:
    """The method, for `async for`."""

    @wraps(method)
    async def iterate(
        self: ThreadedCalls[Sync], *args: Given.args, **kwargs: Given.kwargs
    ) -> AsyncGenerator[Returned]:
        made, found = _Call(), method(self.twin, *args, **kwargs)
        try:
            while (one := await self.call(made, partial(next, found, _END))) is not _END:
                yield one
        finally:
            made.cancellation.cancel()

    return iterate


class AsyncCatalog(ThreadedCalls[RemoteCatalog]):
    """The entries of one kind, as in `RemoteCatalog`."""

    list = _iterated(RemoteCatalog.list)
    get = _awaited(RemoteCatalog.get)
    create = _awaited(RemoteCatalog.create)
    publish = _awaited(RemoteCatalog.publish)
    archive = _awaited(RemoteCatalog.archive)
    diff = _awaited(RemoteCatalog.diff)


class AsyncSettings(ThreadedCalls[RemoteSettings]):
    """Suites or targets, as in `RemoteSettings`."""

    list = _iterated(RemoteSettings.list)
    get = _awaited(RemoteSettings.get)
    create = _awaited(RemoteSettings.create)
    update = _awaited(RemoteSettings.update)
    delete = _awaited(RemoteSettings.delete)


class AsyncReview(ThreadedCalls[RemoteReview]):
    """Review queues and labels, as in `RemoteReview`."""

    queues = _iterated(RemoteReview.queues)
    create_queue = _awaited(RemoteReview.create_queue)
    labels = _iterated(RemoteReview.labels)
    export_labels = _awaited(RemoteReview.export_labels)
    import_labels = _awaited(RemoteReview.import_labels)
    judge = _awaited(RemoteReview.judge)
    agreement = _awaited(RemoteReview.agreement)
    validate = _awaited(RemoteReview.validate)


class AsyncClient(ThreadedCalls[Client]):
    """One server, as in `Client`, for programs with an event loop."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        timeout_s: float = 60.0,
        retries: int = 3,
        ca_file: str | Path | None = None,
        proxy: str | None = None,
    ) -> None:
        """As `Client`."""
        twin = Client(
            url, key=key, timeout_s=timeout_s, retries=retries, ca_file=ca_file, proxy=proxy
        )
        super().__init__(
            twin, ThreadPoolExecutor(_MAX_CALLS, thread_name_prefix="steelyard-client")
        )

    def __repr__(self) -> str:
        return f"Async{self.twin!r}"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        self.threads.shutdown(wait=False)
        self.twin.close()

    me = _awaited(Client.me)
    runs = _iterated(Client.runs)
    run = _awaited(Client.run)
    start_run = _awaited(Client.start_run)
    events = _iterated(Client.events)
    wait = _awaited(Client.wait)
    records = _iterated(Client.records)
    record = _awaited(Client.record)
    attempts = _iterated(Client.attempts)
    failures = _iterated(Client.failures)
    metrics = _awaited(Client.metrics)
    slices = _awaited(Client.slices)
    artifacts = _awaited(Client.artifacts)
    download = _awaited(Client.download)
    manifest = _awaited(Client.manifest)
    cancel = _awaited(Client.cancel)
    resume = _awaited(Client.resume)
    retry = _awaited(Client.retry)
    regrade = _awaited(Client.regrade)
    compare = _awaited(Client.compare)
    group = _iterated(Client.group)
    validate = _awaited(Client.validate)

    @cached_property
    def datasets(self) -> AsyncCatalog:
        """The datasets that the server keeps."""
        return AsyncCatalog(self.twin.datasets, self.threads)

    @cached_property
    def rubrics(self) -> AsyncCatalog:
        """Its rubrics."""
        return AsyncCatalog(self.twin.rubrics, self.threads)

    @cached_property
    def judges(self) -> AsyncCatalog:
        """Its judges."""
        return AsyncCatalog(self.twin.judges, self.threads)

    @cached_property
    def suites(self) -> AsyncSettings:
        """Its suites."""
        return AsyncSettings(self.twin.suites, self.threads)

    @cached_property
    def targets(self) -> AsyncSettings:
        """Its targets, without their secrets."""
        return AsyncSettings(self.twin.targets, self.threads)

    @cached_property
    def review(self) -> AsyncReview:
        """Its review queues, and the labels of people."""
        return AsyncReview(self.twin.review, self.threads)
