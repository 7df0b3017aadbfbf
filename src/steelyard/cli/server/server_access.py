"""How a server is reached, checked before it starts: address, login, proxies."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from steelyard.cli.opening import print_warning
from steelyard.errors import ConfigError, InvalidError

if TYPE_CHECKING:
    from steelyard.api.serving import ServerSettings
    from steelyard.project import Project


def require_safe(project: Project, settings: ServerSettings) -> None:
    """Refuse to serve others than the user of this machine without an admin and an address."""
    from steelyard.api.gatekeeping import is_loopback
    from steelyard.usecases.access.users import has_admin

    for proxy in settings.trusted_proxies:
        _require_network(proxy)
    if settings.public_url is not None:
        _require_origin(settings.public_url)
    if not settings.has_login:
        return
    project.oidc_issuer()
    if not is_loopback(settings.host) and settings.public_url is None:
        raise InvalidError(
            f"a server at {settings.host} is reached from other machines; name the address that "
            "browsers use with --public-url https://…, or serve at 127.0.0.1"
        )
    if not has_admin(project.access_ports()):
        raise ConfigError(
            "a server with login needs an admin first: "
            "steelyard user add NAME --role admin --password-stdin"
        )


def needs_login(host: str, *, is_wanted: bool) -> bool:
    """Whether requests need credentials: always where other machines reach the server."""
    from steelyard.api.gatekeeping import is_loopback

    return is_wanted or not is_loopback(host)


def trusted(proxies: Sequence[str] | None) -> tuple[str, ...]:
    """The addresses that were named."""
    return tuple(proxies or ())


def _require_network(text: str) -> None:
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise InvalidError(
            f"--trusted-proxy {text}: not an address such as 10.0.0.5 or a network such as "
            "10.0.0.0/24"
        ) from None


def _require_origin(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        parts, is_valid = urlsplit(""), False
    if not is_valid or parts.path.strip("/") or parts.query or parts.fragment or parts.username:
        shown = "" if "@" in url else f" {url}"  # what is before an @ may be a password
        raise InvalidError(
            f"--public-url{shown}: give scheme and host, such as https://evals.example.org"
        )
    if parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}:
        print_warning(
            "browsers send session cookies over https only: with this public address, people "
            "cannot log in; keys are sent unencrypted"
        )
