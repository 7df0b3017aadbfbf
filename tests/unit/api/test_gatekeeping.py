"""What holds for every request: whose pages may send it, and what every answer carries."""

from __future__ import annotations

import logging
import socket
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from servers.nginx import PLAIN_SITE, nginx_before
from servers.service import running, served
from steelyard.api.log_lines import JsonLines
from steelyard.api.safe_headers import SAFE_HEADERS
from steelyard.api.serving import TransportLimits
from steelyard.project import open_project


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    """A client of a server without login."""
    folder = tmp_path_factory.mktemp("project")
    with open_project(folder) as project, served(project) as found:
        yield found


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    """A client of a server behind a proxy."""
    folder = tmp_path_factory.mktemp("public")
    settings = {"has_login": True, "public_url": "https://Evals.example"}
    with open_project(folder) as project, served(project, **settings) as found:
        yield found


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
def test_a_page_of_another_site_changes_nothing(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    answer = client.post("/v1/runs", headers=headers)

    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "forbidden"


def test_a_page_of_another_site_may_ask_and_gets_no_leave_to_read(client: httpx.Client) -> None:
    answer = client.get("/healthz", headers={"origin": "https://evil.example"})

    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_a_page_of_the_server_itself_is_let_in(client: httpx.Client) -> None:
    origin = str(client.base_url).rstrip("/")

    answer = client.post("/nowhere", headers={"origin": origin, "sec-fetch-site": "same-origin"})

    assert answer.status_code == 404


def test_a_page_at_the_public_address_is_let_in(public: httpx.Client) -> None:
    headers = {"host": "evals.example", "origin": "https://evals.example"}

    assert public.post("/nowhere", headers=headers).status_code == 404
    assert public.get("/healthz", headers={"host": "other.example"}).status_code == 403


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/v1/runs?unknown=1", "/metrics"])
def test_every_answer_has_safe_headers(client: httpx.Client, path: str) -> None:
    answer = client.get(path)

    assert set(SAFE_HEADERS.items()) <= set(answer.headers.items())
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "name",
    [
        *("forwarded", "x-forwarded", "x-forwarded-for", "x-real-ip", "via", "x-client-ip"),
        *("cf-connecting-ip", "true-client-ip", "fastly-client-ip", "x-cluster-client-ip"),
        *("x-proxyuser-ip", "x-original-host", "x-original-forwarded-for"),
    ],
)
def test_a_server_without_login_refuses_what_a_proxy_forwards(
    client: httpx.Client, name: str
) -> None:
    assert client.get("/healthz", headers={name: "1"}).status_code == 403


def asked_in_http_1_0(client: httpx.Client, path: str) -> str:
    """The first line of the answer to a request of HTTP/1.0."""
    address = ("127.0.0.1", client.base_url.port or 0)
    with socket.create_connection(address, timeout=30) as sent, sent.makefile("rb") as stream:
        sent.sendall(f"GET {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n".encode())
        return stream.readline().decode()


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/runs", 403), ("/", 403), ("/healthz", 200), ("/readyz", 200)]
)
def test_a_server_without_login_answers_only_probes_in_http_1_0(
    client: httpx.Client, public: httpx.Client, path: str, status: int
) -> None:
    assert f" {status} " in asked_in_http_1_0(client, path)
    assert " 403 " not in asked_in_http_1_0(public, path)


def test_a_server_without_login_does_not_serve_behind_a_plain_nginx(
    client: httpx.Client, tmp_path: Path
) -> None:
    with nginx_before(str(client.base_url).rstrip("/"), tmp_path, site=PLAIN_SITE) as url:
        answer = httpx.get(f"{url}/v1/runs")

    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "forbidden"


def test_behind_an_nginx_that_hides_itself_login_is_what_protects(
    public: httpx.Client, tmp_path: Path
) -> None:
    site = PLAIN_SITE.replace("proxy_pass", "proxy_http_version 1.1; proxy_pass")
    with nginx_before(str(public.base_url).rstrip("/"), tmp_path, site=site) as url:
        answer = httpx.get(f"{url}/v1/runs")

    assert answer.status_code == 401


@pytest.mark.parametrize("given", ["Zm9v/YmFy+eA==", "Root=1-67891233-abc;Sampled=1", '{"a\\"'])
def test_a_request_id_is_echoed_in_header_and_body(client: httpx.Client, given: str) -> None:
    answer = client.get("/healthz", headers={"x-request-id": given})

    assert answer.json()["request_id"] == answer.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 201, "é"])
def test_a_request_id_of_other_characters_is_replaced(client: httpx.Client, given: str) -> None:
    answer = client.get("/healthz", headers={b"x-request-id": given.encode()})

    assert answer.json()["request_id"] == answer.headers["x-request-id"] != given


def test_a_request_that_is_cut_off_when_the_server_stops_is_told_so(tmp_path: Path) -> None:
    with (
        open_project(tmp_path) as project,
        running(project, limits=TransportLimits(grace_s=1)) as url,
    ):
        sent = socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=30)
        head = "POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n"
        sent.sendall(f"{head}content-type: application/json\r\n\r\n{{".encode())
        httpx.get(f"{url}/healthz")  # the request above is being served by now
    with sent, sent.makefile("rb") as stream:
        answer = stream.read().decode()

    assert answer.startswith("HTTP/1.1 503 ")
    assert "connection: close" in answer
    assert "x-request-id: " in answer
    assert (
        '{"error":{"code":"service_unavailable","message":"the server stops; try again"}' in answer
    )


def test_a_key_in_an_address_is_not_logged(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    key = f"steelyard_{'a1_-' * 11}"
    with caplog.at_level(logging.INFO, "steelyard.access"):
        client.get(f"/v1/{key}/runs", params={"key": key})
        client.get("/healthz")

    lines = [JsonLines(lambda text: text).format(one) for one in caplog.records]
    assert any("/v1/[redacted]/runs" in line for line in lines)
    assert not any(key in line for line in lines)
