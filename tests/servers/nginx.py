"""A real nginx before a server, with the configuration of the documentation."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

TLS = Path(__file__).parent / "tls"
DOCUMENTED = Path(__file__).parents[2] / "examples" / "deploy" / "nginx.conf"
_MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


def nginx_program() -> str | None:
    """Where nginx is installed; on CI it must be."""
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert found or not os.environ.get("CI"), "nginx is missing"
    return found


def free_port() -> int:
    """A port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextmanager
def proxied(folder: Path, port: int, server_url: str) -> Generator[None]:
    """nginx with TLS at a port, before a server."""
    program = nginx_program()
    assert program
    folder.mkdir()
    text = DOCUMENTED.read_text(encoding="utf-8")
    for documented, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("http://127.0.0.1:8765", server_url),
        ("/etc/nginx/tls/fullchain.pem", str(TLS / "certificate.pem")),
        ("/etc/nginx/tls/privkey.pem", str(TLS / "key.pem")),
    ):
        assert documented in text
        text = text.replace(documented, here)
    (folder / "site.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(_MAIN.format(folder=folder), encoding="utf-8")
    process = subprocess.Popen(
        [program, "-p", str(folder), "-e", str(folder / "error.log"), "-c", f"{folder}/nginx.conf"]
    )
    try:
        _wait(port, process)
        yield
    finally:
        process.terminate()
        process.wait(10)


def trusting() -> ssl.SSLContext:
    """What a client needs to believe the certificate."""
    return ssl.create_default_context(cafile=TLS / "certificate.pem")


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(100):
        assert process.poll() is None, "nginx has not started"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("nginx does not answer")
