"""Where a server is: its address with a path prefix, and the parts of the paths beneath it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from steelyard.errors import InvalidError

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """The address of a server, as its users write it."""

    scheme: str
    host: str
    port: int
    prefix: str
    """The path under which a proxy serves it; empty for most."""

    @property
    def is_secure(self) -> bool:
        """Whether connections to it are encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port, as the header `Host` has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.prefix}"


def parse_address(text: str) -> ServerAddress:
    """Read the address of a server."""
    try:
        parts = urlsplit(text)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError:
        raise _wrong(text, "it is no URL") from None
    if parts.scheme not in _PORTS or not host:
        raise _wrong(text, "it needs a scheme and a host")
    if parts.username is not None or parts.password is not None:
        # It may hold a password, so that it is not repeated.
        raise InvalidError(
            "the address of a server holds no user and no password; pass `key`, or set the "
            "environment variable STEELYARD_KEY"
        )
    if parts.query or parts.fragment:
        raise _wrong(text, "it has no query and no fragment")
    prefix = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
    return ServerAddress(
        scheme=parts.scheme, host=host, port=port or _PORTS[parts.scheme], prefix=prefix
    )


def path_of(*parts: str | int) -> str:
    """A path of the API; each part is encoded, so that none leads elsewhere."""
    return "/v1/" + "/".join(_segment(str(part)) for part in parts)


def _segment(part: str) -> str:
    if part in {"", ".", ".."}:
        raise InvalidError(f"'{part}' is no name")
    try:
        return quote(part, safe="@~")
    except UnicodeEncodeError:
        raise InvalidError(f"{part!r} is no name: it holds half a character") from None


def _wrong(text: str, why: str) -> InvalidError:
    # What is before an @ may be a password.
    shown = "what was given" if "@" in text else f"'{text}'"
    return InvalidError(
        f"{shown} is no address of a server: {why}; write https://example.org:8765"
    )
