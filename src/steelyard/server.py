"""The server process: serves the API of one project until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import uvicorn

from steelyard.api.application import make_application
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.errors import UnavailableError
from steelyard.project import Project

_GRACE_S = 10
_KEEP_ALIVE_S = 30


def serve(
    project: Project,
    settings: ServerSettings,
    on_ready: Callable[[str], None] = lambda _: None,
    beside: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Serve a project until the process is asked to stop; `on_ready` gets the address.

    `beside` is entered when the address is taken and left when the server has stopped: it starts
    and stops what works beside it.
    """
    with _listening(settings) as listener, beside():
        address = url_of(settings.host, listener.getsockname()[1])
        served = ServedProject(project=project, settings=settings)
        make_server(served, lambda: on_ready(address)).run(sockets=[listener])


def make_server(served: ServedProject, on_ready: Callable[[], None]) -> uvicorn.Server:
    """A server of the application; it takes its sockets when it is run."""

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

    config: dict[str, Any] = {
        "http": "httptools",
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": _KEEP_ALIVE_S,
        "timeout_graceful_shutdown": _GRACE_S,
    }
    return Server(uvicorn.Config(make_application(served), **config))


def url_of(host: str, port: int) -> str:
    """The address of a server, as a browser takes it."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def _listening(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise UnavailableError(
            f"cannot listen at {settings.host}:{settings.port}: {error.strerror}; "
            "choose another port"
        ) from None
    return listener
