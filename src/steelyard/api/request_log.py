"""A line of the log for every request."""

from __future__ import annotations

import asyncio
import logging

from steelyard.api.log_lines import Fields, ServedRequests

_LOG = logging.getLogger("steelyard.access")


class RequestLog:
    """Logs requests; those that are served in one turn of the event loop at once, in its next.

    To write a line takes as long as to answer some requests.
    """

    def __init__(self) -> None:
        self._waiting: dict[int, list[Fields]] = {}

    def add(self, level: int, fields: Fields) -> None:
        """Log a request with the fields of its line."""
        if not _LOG.isEnabledFor(level):
            return
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._write)
        self._waiting.setdefault(level, []).append(fields)

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for level, requests in waiting.items():
            _LOG.handle(ServedRequests(level, requests))
