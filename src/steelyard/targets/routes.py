"""The way to an endpoint: whose certificates count, which addresses, and through which proxy."""

from __future__ import annotations

import re
import ssl
from ipaddress import ip_address
from urllib.parse import urlsplit

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.proxies import Proxy, parse_proxy, proxy_of
from steelyard.targets.certificates import trusted
from steelyard.targets.target_settings import TargetSettings

_PASSWORD = re.compile(r"[^/@:]*:([^@/]*)@")
_PORTS = {"http": 80, "https": 443}
NO_PROXY = "none"
"""What stands for a direct connection, whatever the environment says."""


class EndpointRoute(FrozenStruct, frozen=True, kw_only=True):
    """How connections to an endpoint are made."""

    trusted: ssl.SSLContext | None = None
    """Whose certificates count; without it, those of the machine."""
    public_only: bool = False
    """Whether an endpoint at an address that is not public is never reached."""
    proxy: Proxy | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may show."""
        return self.proxy.secrets if self.proxy else ()


DIRECT = EndpointRoute()


def route_of(given: TargetSettings, address: str) -> EndpointRoute:
    """The route that a target's entry and the environment name."""
    return EndpointRoute(
        trusted=trusted(given, address),
        public_only=bool(given.entry.public_only),
        proxy=_proxy(given, address),
    )


def _proxy(given: TargetSettings, address: str) -> Proxy | None:
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    # A proxy would look the name up itself, and nobody would see where it leads.
    is_unseen = bool(given.entry.public_only) and parts.scheme == "http"
    try:
        if "proxy" in given.entry.extra:
            return _named(given, is_unseen=is_unseen)
        if is_unseen or _is_loopback(host):
            return None
        return proxy_of(parts.scheme, host, port, given.environ)
    except ValueError as wrong:
        raise given.wrong(str(wrong)) from None


def _named(given: TargetSettings, *, is_unseen: bool) -> Proxy | None:
    text = given.needed("proxy")
    if text == NO_PROXY:
        return None
    if is_unseen:
        raise given.wrong("'proxy' and 'public_only' exclude each other, unless base_url is https")
    written = _PASSWORD.search(given.written.text("proxy").partition("://")[2])
    if written and "${" not in written[1]:
        raise given.wrong(
            "proxy must not hold a password; name its variable, as in "
            "proxy: http://USER:${PROXY_PASSWORD}@HOST:PORT"
        )
    return parse_proxy(text)


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine, which no proxy of the environment leads to."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
