"""The address that a request comes from, behind proxies that are trusted."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

from starlette.requests import Request

_IP: TypeAlias = IPv4Address | IPv6Address
_IPV6_NETWORK = 64
"""What one customer of a provider usually has; single addresses cost nothing."""
UNKNOWN = "unknown"


def client_address(request: Request, trusted: Iterable[str]) -> str:
    """The right-most address that no trusted proxy has; IPv6 addresses as their network."""
    networks = [ip_network(one, strict=False) for one in trusted]

    def is_trusted(address: _IP) -> bool:
        return any(address in network for network in networks)

    found = _parsed(request.client.host if request.client else "")
    # What stands further left was written by whoever sent the request, and may be invented.
    for text in reversed(",".join(request.headers.getlist("x-forwarded-for")).split(",")):
        if found is None or not is_trusted(found):
            break
        before = _parsed(text)
        if before is None:
            break  # what a proxy wrote and nobody understands hides what stands before it
        found = before
    return UNKNOWN if found is None else _grouped(found)


def _parsed(text: str) -> _IP | None:
    try:
        address = ip_address(text.strip().strip("[]"))
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _grouped(address: _IP) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(ip_network((address, _IPV6_NETWORK), strict=False))
