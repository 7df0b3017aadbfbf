"""The proxy that leads to a server: named by argument or by the usual variables."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.client.address import ServerAddress
from steelyard.errors import InvalidError
from steelyard.model.proxies import Proxy, parse_proxy, proxy_of


def find_proxy(
    address: ServerAddress, given: str | None, environ: Mapping[str, str]
) -> Proxy | None:
    """The proxy for an address; `NO_PROXY` applies to those of the environment."""
    try:
        if given is not None:
            return parse_proxy(given)
        return proxy_of(address.scheme, address.host, address.port, environ)
    except ValueError as wrong:
        raise InvalidError(str(wrong)) from None
