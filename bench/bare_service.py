"""The ceiling of `bench.http_service`: the bare framework sends bytes that it holds.

`python -m bench.bare_service FOLDER` serves the files of a folder with the server's own settings.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

_SETTINGS: dict[str, Any] = {
    "http": "httptools",
    "ws": "none",
    "log_config": None,
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,
}


def application(folder: Path) -> Starlette:
    """Answers with the content of a file, read beforehand."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}

    async def answer(request: Request) -> Response:
        return Response(files[request.path_params["name"]], media_type="application/json")

    return Starlette(routes=[Route("/{name}", answer)])


def main() -> None:
    """Serve, and print the address first."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(application(Path(sys.argv[1])), **_SETTINGS)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
