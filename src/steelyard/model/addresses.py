"""Which network addresses are public, and which are for machines of one network alone."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_GLOBAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
"""For protocols and for relays; some versions of Python take them for public."""
_NAT64 = IPv6Network("64:ff9b::/96")
_LAST_32_BITS = 0xFFFFFFFF


def is_public(text: str) -> bool:
    """Whether an address is one of the internet, and so not of this machine or its network.

    An IPv6 address that stands for one of IPv4 is judged by that.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        if inner := address.ipv4_mapped or address.sixtofour or _behind_nat64(address):
            return is_public(str(inner))
        if address.is_site_local or address.teredo:
            return False
    if isinstance(address, IPv4Address) and any(address in one for one in _NOT_GLOBAL):
        return False
    is_special = address.is_reserved or address.is_multicast or address.is_unspecified
    return address.is_global and not is_special


def _behind_nat64(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(address) & _LAST_32_BITS) if address in _NAT64 else None
