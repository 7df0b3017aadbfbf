"""What one server process holds: the project it serves, and how it is reached."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.api.request_limits import RequestLimiter
from steelyard.project import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server is reached, as its command line says."""

    host: str = "127.0.0.1"
    port: int = 8765
    has_login: bool = False
    """Whether requests need credentials; always where the host is not a loopback address."""
    public_url: str | None = None
    """The address that browsers use, behind a proxy."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses whose forwarding headers are believed."""
    requests_per_minute: int = 600
    """The limit for each key, session or address, where requests need credentials."""
    workers: int = 1
    """Worker processes that the server starts for runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedProject:
    """A project behind HTTP."""

    project: Project
    settings: ServerSettings
    limiter: RequestLimiter = field(default_factory=RequestLimiter)
