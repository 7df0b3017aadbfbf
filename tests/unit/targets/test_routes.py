"""Endpoints behind a proxy: which one is used, what it sees, and what nobody is shown."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fakes.asking import ask_once
from servers.http_proxy import HttpProxy, proxying
from servers.openai_server import COMPLETION, says, serving
from servers.scripted_bytes import scripted
from steelyard.errors import ConfigError, TargetError
from steelyard.model.proxies import is_exempt, parse_proxy
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.making import Made, TargetMaker

TLS = Path(__file__).parents[2] / "servers" / "tls"
SECRET = "se%40cret-1234567"
BODY = json.dumps(COMPLETION).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)


def made(settings: dict[str, Any], environ: dict[str, str] | None = None) -> Made:
    row = {"provider": "openai", "model": "m", **settings}
    return TargetMaker(TLS, {"live": TargetEntry.of(row)}, environ or {}, SystemClock()).make(
        "live"
    )


def refused(settings: dict[str, Any], environ: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        made({"base_url": "https://models.example.com/v1", **settings}, environ)
    return str(caught.value)


def through(settings: dict[str, Any], environ: dict[str, str]) -> tuple[str, HttpProxy]:
    """An answer of a plain endpoint that only a proxy knows the way to; {} is its port."""

    async def main() -> tuple[str, HttpProxy]:
        async with serving(says(COMPLETION)) as url, proxying(urlsplit(url).port or 0) as proxy:
            filled = {name: text.format(proxy.port) for name, text in environ.items()}
            given = {name: text.format(proxy.port) for name, text in settings.items()}
            row = {"base_url": "http://models.example.com/v1", **given}
            trace = await ask_once(made(row, filled).target)
            return trace.response, proxy

    return asyncio.run(main())


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_a_proxy_of_the_environment_is_asked_with_the_whole_address(name: str) -> None:
    said, proxy = through({}, {name: f"http://ada:{SECRET}@127.0.0.1:{{}}"})

    assert said == "At nine."
    assert proxy.heads[0].startswith("POST http://models.example.com/v1/chat/completions HTTP/1.1")
    assert "\r\nhost: models.example.com\r\n" in proxy.heads[0]
    assert "proxy-authorization: Basic YWRhOnNlQGNyZXQtMTIzNDU2Nw==" in proxy.heads[0]


def test_a_target_names_its_own_proxy() -> None:
    said, proxy = through({"proxy": "127.0.0.1:{}"}, {"HTTP_PROXY": "http://other:1"})

    assert (said, len(proxy.heads)) == ("At nine.", 1)


def secured(answer: bytes | None, settings: dict[str, Any]) -> tuple[str, HttpProxy]:
    """The answer, or the error, of an endpoint with a certificate."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")

    async def main() -> tuple[str, HttpProxy]:
        async with scripted([ANSWER], [ANSWER], tls=tls) as server:
            port = urlsplit(server.url).port or 0
            async with proxying(port, answer) as proxy:
                row = {"base_url": server.url, "ca_file": "certificate.pem", **settings}
                row["proxy"] = f"http://ada:${{PASS}}@127.0.0.1:{proxy.port}"
                target = made(row, {"PASS": SECRET, "MY_KEY": "sk-canary-1234567"}).target
                try:
                    return (await ask_once(target)).response, proxy
                except TargetError as error:
                    return f"{error.code}: {error}", proxy

    return asyncio.run(main())


def test_a_secure_endpoint_is_reached_by_a_tunnel_that_hides_the_key() -> None:
    said, proxy = secured(None, {"api_key_env": "MY_KEY"})

    assert said == "At nine."
    assert proxy.heads[0].startswith("CONNECT localhost:")
    assert "proxy-authorization: Basic YWRh" in proxy.heads[0]
    assert "canary" not in proxy.heads[0]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "unauthorized"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "forbidden"),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "service_unavailable"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "service_unavailable"),
    ],
)
def test_a_tunnel_that_is_refused_is_an_error_without_the_password(
    answer: bytes, code: str
) -> None:
    said, _ = secured(answer, {})

    assert said.startswith(f"{code}: the proxy ")
    assert "cret" not in said


def test_an_unreachable_proxy_is_named_without_its_user() -> None:
    row = {"base_url": "https://models.example.com/v1", "proxy": "http://ada:${PASS}@127.0.0.1:1"}
    with pytest.raises(TargetError) as caught:
        asyncio.run(ask_once(made(row, {"PASS": SECRET}).target))

    assert caught.value.code == "service_unavailable"
    assert "models.example.com:443 through the proxy 127.0.0.1:1: " in str(caught.value)
    assert "ada" not in str(caught.value)


def test_the_password_is_a_secret_and_no_part_of_the_manifest() -> None:
    row = {"base_url": "https://models.example.com/v1"}
    found = made(row, {"HTTPS_PROXY": f"http://ada:{SECRET}@proxy:3128"})

    assert {"se@cret-1234567", "YWRhOnNlQGNyZXQtMTIzNDU2Nw=="} <= set(found.secrets)
    assert "proxy" not in json.dumps(found.target.described())


@pytest.mark.parametrize(
    ("settings", "environ", "said"),
    [
        ({"proxy": "socks5://h:1"}, {}, "not of the form http://host:port"),
        ({"proxy": "http://a:plain-pass@h:1"}, {}, "proxy must not hold a password; name its"),
        ({}, {"HTTPS_PROXY": "https://a:hidden@h"}, "not of the form http://host:port"),
        (
            {"proxy": "http://h:1", "public_only": True, "base_url": "http://a.example/v1"},
            {},
            "'proxy' and 'public_only' exclude each other",
        ),
    ],
)
def test_a_wrong_proxy_is_refused_and_not_shown(
    settings: dict[str, Any], environ: dict[str, str], said: str
) -> None:
    message = refused(settings, environ)

    assert said in message
    assert "hidden" not in message
    assert "plain-pass" not in message


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1/v1", "http://localhost:1/v1"])
def test_no_proxy_of_the_environment_leads_to_this_machine(base_url: str) -> None:
    found = made({"base_url": base_url}, {"HTTP_PROXY": "http://ada:password@proxy:1"})

    assert found.secrets == ()


def test_a_target_may_connect_directly() -> None:
    row = {"base_url": "http://models.example.com/v1", "proxy": "none"}

    assert made(row, {"HTTP_PROXY": "http://ada:password@proxy:1"}).secrets == ()


@pytest.mark.parametrize(
    ("host", "no_proxy", "is_direct"),
    [
        ("api.example.com", "example.com", True),
        ("api.example.com", "other.org, .example.com", True),
        ("api.example.com", "*.example.com", True),
        ("api.example.com", "api.example.com:443", True),
        ("api.example.com", "api.example.com:8443", False),
        ("notexample.com", "example.com", False),
        ("api.example.com", "*", True),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("api.example.com", "10.0.0.0/8,", False),
    ],
)
def test_no_proxy_lists_hosts_domains_and_networks(
    host: str, no_proxy: str, is_direct: bool
) -> None:
    assert is_exempt(host, 443, no_proxy) is is_direct


def test_the_address_of_a_proxy_may_be_of_ip_version_6() -> None:
    found = parse_proxy("http://[fe80::1]:3128/")

    assert (found.host, found.port, found.place) == ("fe80::1", 3128, "[fe80::1]:3128")
