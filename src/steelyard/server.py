"""The server process: serves the API and the pages of one project until it is stopped."""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext

from steelyard.api.application import make_application
from steelyard.api.http_server import HttpServer
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.api.tracing import tracing_of
from steelyard.errors import UnavailableError
from steelyard.project import Project
from steelyard.web.application import error_page, page_routes
from steelyard.web.site import PAGES

_INTERRUPTED = 130
_REQUEST_THREAD = "AnyIO worker thread"
_IDLE_S = 0.5
"""An idle thread ends within this time when the server has stopped."""


def serve(
    project: Project,
    settings: ServerSettings,
    on_ready: Callable[[str], None] = lambda _: None,
    beside: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Serve a project until the process is asked to stop; `on_ready` gets the address.

    `beside` is entered when the address is taken and left when the server has stopped: it starts
    and stops what works beside it. SIGTERM returns, Ctrl-C raises KeyboardInterrupt, and a second
    signal ends the process at once.
    """
    project.condition.require_own_schema()
    project.sealed_runs.require_ready()
    with _listening(settings) as listener, closing(tracing_of(os.environ)) as tracing, beside():
        address = url_of(settings.host, listener.getsockname()[1])
        served = ServedProject(project=project, settings=settings, tracing=tracing)
        server = make_server(served, lambda: on_ready(address))
        server.run(sockets=[listener])
    if server.force_exit:
        # A thread of a request may still work; nobody waits for it.
        os._exit(_INTERRUPTED)
    if server.failure:
        raise server.failure
    if _has_busy_threads():
        # Its request had the time that requests have; the process would wait for it without end.
        os._exit(_INTERRUPTED if signal.SIGINT in server.signals else 0)
    if signal.SIGINT in server.signals:
        raise KeyboardInterrupt


def _has_busy_threads() -> bool:
    """Whether a thread still works for a request though the server has stopped."""
    threads = [one for one in threading.enumerate() if one.name == _REQUEST_THREAD]
    for thread in threads:
        thread.join(_IDLE_S)
        if thread.is_alive():
            return True
    return False


def make_server(served: ServedProject, on_ready: Callable[[], None]) -> HttpServer:
    """A server of the application; it takes its sockets when it is run."""
    pages = page_routes(served, PAGES)
    return HttpServer(served, make_application(served, pages, error_page), on_ready)


def url_of(host: str, port: int) -> str:
    """The address of a server, as a browser takes it."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether nothing listens at a port of this machine."""
    try:
        _listening(ServerSettings(host=host, port=port)).close()
    except UnavailableError:
        return False
    return True


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
            f"cannot listen at {settings.host}:{settings.port}: {error.strerror}; {_remedy(error)}"
        ) from None
    return listener


def _remedy(error: OSError) -> str:
    """What to do about an address that cannot be listened at."""
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return "choose an address of this machine"
    if error.errno == errno.EACCES:
        return "choose a port from 1024 on"
    return "stop what listens there, or choose another port"
