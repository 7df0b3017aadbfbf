"""A real nginx before a server, as docs/deploy.md sets one up."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from real_parts import lack

_CONFIG = """\
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        keepalive_requests 1000000;
        server_name {name};
        client_max_body_size 101m;
        location / {{
            proxy_pass {upstream};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
            proxy_request_buffering off;
        }}
    }}
}}
"""


@contextmanager
def nginx_before(upstream: str, folder: Path, name: str) -> Generator[str]:
    """The address of an nginx that forwards to a server under a public name."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        lack("needs nginx: the system's package nginx")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    config = folder / "nginx.conf"
    text = _CONFIG.format(folder=folder, port=port, name=name, upstream=upstream)
    config.write_text(text, encoding="utf-8")
    words = [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)]
    with subprocess.Popen(words) as process:
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, "nginx has ended"
            assert time.monotonic() < deadline, "nginx does not listen"
            time.sleep(0.05)
        else:
            return
