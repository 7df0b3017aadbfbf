"""What a server counts of its requests, for `/metrics`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets in seconds."""
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))
UNMATCHED = "unmatched"
"""The route of a request that was refused, or is for no route."""


@dataclass(slots=True)
class Latencies:
    """How long the requests of one method and route took."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total_s: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one request."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total_s += seconds


class Measurements:
    """Counts of requests by route template; changed in the event loop of the server alone."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._requests: dict[tuple[str, str, int], int] = {}
        self._latencies: dict[tuple[str, str], Latencies] = {}

    def begin(self) -> None:
        """A request begins."""
        self.in_flight += 1

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request has ended; status 0: its client went away before the answer."""
        self.in_flight -= 1
        known = method if method in _METHODS else "other"
        key = (known, route, status)
        self._requests[key] = self._requests.get(key, 0) + 1
        latencies = self._latencies.get((known, route))
        if latencies is None:
            latencies = self._latencies[known, route] = Latencies()
        latencies.add(seconds)

    def requests(self) -> Iterator[tuple[str, str, int, int]]:
        """Method, route, status and how many."""
        for (method, route, status), count in sorted(self._requests.copy().items()):
            yield method, route, status, count

    def latencies(self) -> Iterator[tuple[str, str, Latencies]]:
        """Method, route and how long."""
        for (method, route), found in sorted(self._latencies.copy().items()):
            yield method, route, found
