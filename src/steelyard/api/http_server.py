"""The server within a process: accepts connections, and stops in order."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from steelyard.api.connection import ClientConnection
from steelyard.api.gatekeeping import Gatekeeper
from steelyard.api.serving import ServedProject
from steelyard.errors import SchemaVersionError, SteelyardError

if TYPE_CHECKING:
    import socket

_CHECKED_EVERY = 10
"""Ticks of a tenth of a second between two looks at the connections."""
_STORE_CHECKED_EVERY = 20
_LOG = logging.getLogger("steelyard.server")


class HttpServer(uvicorn.Server):
    """uvicorn's server, which also ends slow connections and event streams.

    The first signal stops it in order: no new connections, requests in flight end, streams are
    closed. The second one stops it at once.
    """

    def __init__(
        self, served: ServedProject, application: Gatekeeper, on_ready: Callable[[], None]
    ) -> None:
        limits = served.settings.limits
        config: dict[str, Any] = {
            "http": type("LimitedConnection", (ClientConnection,), {"limits": limits}),
            "ws": "none",
            "lifespan": "on",
            "log_config": None,
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "timeout_keep_alive": limits.keep_alive_s,
            "timeout_graceful_shutdown": limits.grace_s,
        }
        super().__init__(uvicorn.Config(application, **config))
        self.signals: list[int] = []
        self.failure: SteelyardError | None = None
        """Why the server has stopped by itself."""
        self._served = served
        self._on_ready = on_ready
        self._watching: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        self._on_ready()

    async def on_tick(self, counter: int) -> bool:
        """Look after the connections and the store; whether to stop."""
        if counter % _CHECKED_EVERY == 0:
            for connection in list(self.server_state.connections):
                cast(ClientConnection, connection).check()
        if counter % _STORE_CHECKED_EVERY == 0 and self._watching is None:
            self._watching = asyncio.create_task(self._watch_store())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in order; answers without end are told first."""
        self._served.stopping.set()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """Stop in order, or at once when asked again."""
        self.signals.append(sig)
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take signals while the server runs; they are not raised again when it has stopped."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in handled}
        try:
            yield
        finally:
            for one, found in before.items():
                signal.signal(one, found)

    async def _watch_store(self) -> None:
        """Stop when another version of the product has taken over the store."""
        try:
            await asyncio.to_thread(self._served.project.condition.require_own_schema)
        except SchemaVersionError as error:
            self.failure, self.should_exit = error, True
        except SteelyardError as error:
            _LOG.warning("the store cannot be used: %s", error)  # it may come back
        finally:
            self._watching = None
