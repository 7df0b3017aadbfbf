"""Targets that may reach public addresses alone."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from steelyard.errors import TargetError
from steelyard.model.addresses import is_public
from steelyard.targets.http_endpoint import HttpEndpoint
from steelyard.targets.routes import EndpointRoute

PUBLIC = "192.88.99.1"
"""An address that is public, and that nobody answers at."""


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *((one, True) for one in ("1.1.1.1", "93.184.216.34", "2606:4700::1111")),
        ("::ffff:1.1.1.1", True),
        ("64:ff9b::101:101", True),
        *((one, False) for one in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "0.0.0.0", "::1")),
        *(
            (one, False)
            for one in ("::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "::a00:1")
        ),
        *((one, False) for one in ("fe80::1%eth0", "fd12::1", "ff02::1", "fec0::1", "2001::1")),
        *((one, False) for one in ("localhost", "", "1.1.1", "1.1.1.1.1")),
    ],
)
def test_knows_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


class Listener:
    """A server that counts who connects."""

    def __init__(self) -> None:
        self.connections = 0

    async def __aenter__(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self._server.sockets[0].getsockname()[1]

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()


async def ask(url: str, *, public_only: bool) -> bytes:
    """The answer of an endpoint."""
    endpoint = HttpEndpoint(url, {}, 0.5, route=EndpointRoute(public_only=public_only))
    try:
        return (await endpoint.send(b"{}")).data
    finally:
        await endpoint.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433"])
def test_nothing_is_sent_to_an_address_that_is_not_public(host: str) -> None:
    listener = Listener()

    async def tried() -> None:
        async with listener as port:
            url = f"http://{host}:{port}/"
            assert await ask(url, public_only=False) == b"{}"
            with pytest.raises(TargetError, match="is not a public address") as refused:
                await ask(url, public_only=True)
            assert refused.value.code == "forbidden_address"

    asyncio.run(tried())

    assert listener.connections == 1


def test_a_name_that_changes_its_address_after_the_check_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listener, asked, real = Listener(), list[str](), socket.getaddrinfo

    def rebinding(host: Any, *rest: Any, **more: Any) -> Any:
        if host != "rebinds.example":
            return real(host, *rest, **more)
        asked.append(host)
        return real(PUBLIC if len(asked) == 1 else "127.0.0.1", *rest, **more)

    async def tried() -> None:
        async with listener as port:
            monkeypatch.setattr(socket, "getaddrinfo", rebinding)
            with pytest.raises(TargetError):
                await ask(f"http://rebinds.example:{port}/", public_only=True)

    asyncio.run(tried())

    assert (len(asked), listener.connections) == (1, 0)
