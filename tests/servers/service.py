"""A real server of a project, in a thread of the test's process, on a free port."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from servers.documented import check_answer
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.project import Project
from steelyard.server import make_server, url_of

_NO_PARTS: Mapping[str, Any] = {}


@contextmanager
def served(
    project: Project, parts: Mapping[str, Any] = _NO_PARTS, /, **settings: Any
) -> Generator[httpx.Client]:
    """A client of a server that runs for the length of a test.

    It checks every answer against the document of the API. Parts of the server other than its
    settings are those of `ServedProject`.
    """
    hooks = {"response": [check_answer]}
    with (
        running(project, parts, **settings) as url,
        httpx.Client(base_url=url, timeout=30, event_hooks=hooks) as client,
    ):
        yield client


@contextmanager
def running(
    project: Project, parts: Mapping[str, Any] = _NO_PARTS, /, **settings: Any
) -> Generator[str]:
    """The address of such a server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        known = ServerSettings(port=port, **settings)
        served = ServedProject(project=project, settings=known, **parts)
        is_ready = threading.Event()
        server = make_server(served, is_ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert is_ready.wait(30)
        try:
            yield url_of("127.0.0.1", port)
        finally:
            server.should_exit = True
            thread.join(30)
