"""Endpoints behind a certificate of one's own, and files of certificates that are none."""

from __future__ import annotations

import gzip
import json
import shutil
import ssl
import subprocess
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import pytest

from servers.in_thread import in_thread
from servers.scripted_bytes import scripted

Command = Callable[..., subprocess.CompletedProcess[str]]
TLS = Path(__file__).parents[1] / "servers" / "tls"
NOWHERE = "https://localhost:1/ask"
RUN = ("run", "cases.jsonl", "--target", "live", "--format", "json")


def project(folder: Path, url: str, more: str = "") -> Path:
    """A project with one case and a target at that address."""
    target = f'{{provider: http, url: "{url}", answer: said{more}}}'
    text = f"targets:\n  live: {target}\nretry: {{max_attempts: 1}}\n"
    (folder / "steelyard.yaml").write_text(text, encoding="utf-8")
    wanted = [{"type": "equals", "value": "nine"}]
    case = {"id": "a", "expected_outcome": "Nine.", "input": "When?", "evaluators": wanted}
    (folder / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    (folder / "certs").mkdir()
    shutil.copyfile(TLS / "certificate.pem", folder / "certs" / "own.pem")
    (folder / "certs" / "text.pem").write_text("no certificate\n", encoding="utf-8")
    return folder


def server_tls() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    return made


def reply() -> bytes:
    """JSON after a byte order mark, packed as gzip of two members."""
    data = BOM_UTF8 + b'{"said": "nine"}'
    body = gzip.compress(data[:9], mtime=0) + gzip.compress(data[9:], mtime=0)
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("more", "environment", "status"),
    [
        (", ca_file: certs/own.pem", {}, "evaluated"),
        ("", {"SSL_CERT_FILE": str(TLS / "certificate.pem")}, "evaluated"),
        ("", {}, "evaluation_error"),
    ],
    ids=["ca_file", "variable", "neither"],
)
def test_an_own_certificate_is_trusted_where_it_is_named(
    tmp_path: Path, steelyard: Command, more: str, environment: dict[str, str], status: str
) -> None:
    with in_thread(scripted([reply()], tls=server_tls())) as server:
        root = project(tmp_path, f"{server.url}/ask", more)
        steelyard(*RUN, cwd=root, env=environment)
    (row,) = (root / ".steelyard" / "runs").glob("*/predictions.jsonl")

    assert json.loads(row.read_text(encoding="utf-8"))["status"] == status


@pytest.mark.parametrize(
    ("more", "environment", "said"),
    [
        (", ca_file: certs/none.pem", {}, "ca_file {root}/certs/none.pem is not there"),
        (", ca_file: certs", {}, "targets.live: ca_file {root}/certs is no file"),
        (", ca_file: certs/text.pem", {}, "certs/text.pem holds no PEM certificate"),
        ("", {"SSL_CERT_FILE": "/no/such.pem"}, "SSL_CERT_FILE names /no/such.pem, which is not"),
        ("", {"SSL_CERT_FILE": "certs/text.pem"}, "SSL_CERT_FILE names certs/text.pem, which"),
    ],
)
def test_certificates_that_are_none_are_named_before_the_first_call(
    tmp_path: Path, steelyard: Command, more: str, environment: dict[str, str], said: str
) -> None:
    root = project(tmp_path, NOWHERE, more)
    done = steelyard(*RUN, cwd=root, env=environment)

    assert done.returncode == 2
    assert said.format(root=root) in done.stderr
    assert not list((root / ".steelyard").glob("runs/*"))
