"""Which proxy leads to a host: one that is named, or one of the usual variables."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from ipaddress import ip_address, ip_network

from steelyard.model.frozen_struct import FrozenStruct

_ADDRESS = re.compile(
    r"(?:http://)?(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[^:@/\[\]\s]+))(?::(?P<port>\d{1,5}))?/?"
)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")


class Proxy(FrozenStruct, frozen=True, kw_only=True):
    """An HTTP proxy."""

    host: str
    port: int
    authorization: str | None
    """The value of `Proxy-Authorization`, where its address names a user."""
    password: str | None = None

    @property
    def place(self) -> str:
        """Host and port, for messages: without the user."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message and no file may show."""
        secret = (self.authorization or "").removeprefix("Basic ")
        return tuple(text for text in (self.password, secret) if text)


def proxy_of(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy of the environment for an address, unless `NO_PROXY` exempts it.

    An address of it that cannot be read is a ValueError.
    """
    named = {name.lower(): value for name, value in environ.items() if value}
    url = named.get(f"{scheme}_proxy")
    if not url or is_exempt(host, port, named.get("no_proxy", "")):
        return None
    return parse_proxy(url)


def is_exempt(host: str, port: int, no_proxy: str) -> bool:
    """Whether `NO_PROXY` lists a host, one of its domains, a network of its, or `*`."""
    host = host.lower()
    for entry in no_proxy.lower().split(","):
        name = entry.strip().removeprefix("*").lstrip(".")
        if entry.strip() == "*" or (name and _is_named(host, port, name)):
            return True
    return False


def _is_named(host: str, port: int, name: str) -> bool:
    if name in {host, f"{host}:{port}", f"[{host}]:{port}"} or host.endswith(f".{name}"):
        return True
    try:
        return "/" in name and ip_address(host) in ip_network(name, strict=False)
    except ValueError:
        return False


def parse_proxy(url: str) -> Proxy:
    """Read the address of a proxy; a wrong one is a ValueError that does not repeat it."""
    found = _ADDRESS.fullmatch(url.strip())
    port = int(found["port"] or 80) if found else 0
    if not found or not 0 < port < 65536:
        # The address may hold a password.
        raise ValueError("the address of the proxy is not of the form http://host:port")
    authorization = password = None
    if found["user"] is not None:
        user, password = _decoded(found["user"]), _decoded(found["password"] or "")
        pair = b64encode(f"{user}:{password}".encode()).decode("ascii")
        authorization = f"Basic {pair}"
    host: str = found["six"] or found["host"]
    return Proxy(host=host, port=port, authorization=authorization, password=password)


def _decoded(text: str) -> str:
    data = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode())
    return data.decode("utf-8", "replace")
