"""What one server process holds: the project it serves, and how it is reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from steelyard.api.kept_identities import KeptIdentities
from steelyard.api.kept_replies import KeptReplies, NewestCommit
from steelyard.api.log_lines import LogFormat
from steelyard.api.measurements import Measurements
from steelyard.api.request_limits import RequestLimiter
from steelyard.api.shown_results import NotedResults
from steelyard.api.stopping import StopSignal
from steelyard.api.tracing import NoTracing, RequestTracing
from steelyard.project import Project
from steelyard.usecases.results.kept_results import KeptResults

_MOST_COMPARISONS = 6
"""Of two runs with 50,000 records each, one comparison takes about 20 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportLimits:
    """What one connection may take of a server, in bytes and seconds."""

    max_connections: int = 500
    max_target_bytes: int = 16 * 1024
    """The most of a request's address."""
    max_head_bytes: int = 64 * 1024
    """The most of a request before its body."""
    max_headers: int = 100
    max_pipelined: int = 32
    """Requests that wait on one connection while an earlier one is served."""
    head_s: float = 10.0
    """A request must have arrived as far as its body by then."""
    idle_body_s: float = 30.0
    """A body may pause for so long."""
    min_body_rate: float = 1024.0
    """Bytes a second of a body on average, after `idle_body_s`."""
    lingering_s: float = 30.0
    """What is left of a body is read and dropped for so long after the answer."""
    unread_s: float = 60.0
    """A client may leave an answer unread for so long."""
    keep_alive_s: int = 30
    grace_s: int = 10
    """Requests may take so long to end when the server stops."""


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
    log_format: LogFormat = "text"
    """How the server and its workers write their log."""
    log_level: str = "info"
    """The lowest level that they log."""
    spool_quota: int = 5 * 1024**3
    """The most bytes of posted datasets whose runs have not ended."""
    limits: TransportLimits = field(default_factory=TransportLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedProject:
    """A project behind HTTP."""

    project: Project
    settings: ServerSettings
    limiter: RequestLimiter = field(default_factory=RequestLimiter)
    stopping: StopSignal = field(default_factory=StopSignal)
    """Set when the server begins to stop; event streams end then."""
    measurements: Measurements = field(default_factory=Measurements)
    tracing: RequestTracing = field(default_factory=NoTracing)
    kept: KeptReplies[Any] = field(default_factory=KeptReplies[Any])
    identities: KeptIdentities = field(default_factory=KeptIdentities)
    newest: NewestCommit = field(default_factory=NewestCommit)
    results: KeptResults = field(default_factory=lambda: KeptResults(most=_MOST_COMPARISONS))
    noted: NotedResults = field(default_factory=NotedResults)
    """Who has opened which results, as far as this process has noted it."""
