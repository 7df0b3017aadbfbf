"""Names of hosts to addresses, for targets that may reach public addresses alone."""

from __future__ import annotations

import asyncio
import socket

from steelyard.errors import TargetError
from steelyard.model.addresses import is_public


def addresses_of(host: str) -> tuple[str, ...]:
    """The addresses of a host; none where its name does not resolve."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # a name that no server of names would take
        return ()
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


async def public_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host to connect to, all of them public.

    Whoever connects takes one of these, and does not ask for the name again: it may lead to
    another address by then.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    for address in addresses:
        if not is_public(address):
            raise TargetError(
                "forbidden_address", f"{host} is {address}, which is not a public address"
            )
    return addresses
