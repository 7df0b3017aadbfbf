"""The proxy that leads to a server: named by argument or by the usual variables."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from steelyard.client.address import ServerAddress
from steelyard.errors import InvalidError


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """An HTTP proxy."""

    host: str
    port: int
    authorization: str | None
    """The value of `Proxy-Authorization`, where its address names a user."""


def find_proxy(
    address: ServerAddress, given: str | None, environ: Mapping[str, str]
) -> Proxy | None:
    """The proxy for an address; `NO_PROXY` applies to those of the environment."""
    if given is not None:
        return _parse(given)
    named = {name.lower(): value for name, value in environ.items() if value}
    url = named.get(f"{address.scheme}_proxy")
    if not url or _is_exempt(address, named.get("no_proxy", "")):
        return None
    return _parse(url)


def _is_exempt(address: ServerAddress, no_proxy: str) -> bool:
    """Whether `NO_PROXY` lists a host, one of its domains, or `*`."""
    for entry in no_proxy.lower().split(","):
        name = entry.strip().lstrip(".")
        exact = {"*", address.host, f"{address.host}:{address.port}"}
        if name and (name in exact or address.host.endswith(f".{name}")):
            return True
    return False


def _parse(url: str) -> Proxy:
    # The address may hold a password, so that no message repeats it.
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, None
    if parts is None or parts.scheme != "http" or not host:
        raise InvalidError("the address of the proxy is not of the form http://host:port")
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {b64encode(pair.encode()).decode('ascii')}"
    return Proxy(host=host, port=port or 80, authorization=authorization)
