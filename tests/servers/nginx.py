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
from typing import Any

import httpx

from real_parts import lack

TLS = Path(__file__).parent / "tls"
DOCUMENTED = Path(__file__).parents[2] / "examples" / "deploy" / "nginx.conf"
_MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""
PLAIN_SITE = "server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {server}; }} }}"
"""A site that forwards and sets nothing else."""
_PATIENCE_S = 20.0


def require_nginx() -> str:
    """Where nginx is installed."""
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    return found or lack("needs nginx: the system's package nginx")


def free_port() -> int:
    """A port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextmanager
def nginx_before(
    server_url: str,
    folder: Path,
    *,
    port: int | None = None,
    has_tls: bool = False,
    site: str | None = None,
) -> Generator[str]:
    """The address of an nginx that forwards to a server, with TLS or without.

    The site is the documented one, unless another is given.
    """
    program, port = require_nginx(), port or free_port()
    folder.mkdir(exist_ok=True)
    written = site.format(port=port, server=server_url) if site else None
    written = written or _site(server_url, port, has_tls=has_tls)
    (folder / "site.conf").write_text(written, encoding="utf-8")
    (folder / "nginx.conf").write_text(_MAIN.format(folder=folder), encoding="utf-8")
    words = [program, "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]
    with subprocess.Popen(words) as process:
        try:
            _wait_for(port, process)
            yield f"https://localhost:{port}" if has_tls else f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)


def trusting() -> ssl.SSLContext:
    """What a client needs to believe the certificate."""
    return ssl.create_default_context(cafile=TLS / "certificate.pem")


def _site(server_url: str, port: int, *, has_tls: bool) -> str:
    """The documented site at another port, before another server."""
    text = DOCUMENTED.read_text(encoding="utf-8")
    for documented, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port}{' ssl' if has_tls else ''}"),
        ("http://127.0.0.1:8765", server_url),
        ("/etc/nginx/tls/fullchain.pem", str(TLS / "certificate.pem")),
        ("/etc/nginx/tls/privkey.pem", str(TLS / "key.pem")),
    ):
        assert documented in text
        text = text.replace(documented, here)
    return text


def require_valid_site(site: str, folder: Path) -> None:
    """Let nginx read a site as it would at its start, with the certificate of the tests."""
    for documented, here in (
        ("/etc/nginx/tls/fullchain.pem", str(TLS / "certificate.pem")),
        ("/etc/nginx/tls/privkey.pem", str(TLS / "key.pem")),
    ):
        assert documented in site
        site = site.replace(documented, here)
    (folder / "site.conf").write_text(site, encoding="utf-8")
    (folder / "nginx.conf").write_text(_MAIN.format(folder=folder), encoding="utf-8")
    words = [require_nginx(), "-t", "-p", folder, "-e", folder / "error.log", "-c"]
    done = subprocess.run(
        [*words, folder / "nginx.conf"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "nginx has ended"
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("nginx does not listen")


def ask_again(client: httpx.Client, method: str, path: str, **request: Any) -> httpx.Response:
    """An answer; a proxy may close a kept connection just when it is used again."""
    try:
        return client.request(method, path, **request)
    except httpx.RemoteProtocolError:
        return client.request(method, path, **request)
