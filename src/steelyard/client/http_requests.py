"""A request to a server, before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlencode

from steelyard.client.sent_body import SentBody
from steelyard.errors import InvalidError

QueryValue: TypeAlias = str | int | float | bool | None
_IDEMPOTENT = {"GET", "PUT", "DELETE"}
IDEMPOTENCY_KEY = "idempotency-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What is asked of a server."""

    method: str = "GET"
    path: str
    """Beneath the address of the server; its parts are encoded."""
    query: Mapping[str, QueryValue] = field(default_factory=dict[str, Any])
    """What is None is left out."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: SentBody | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether a server that gets it twice does no more than once."""
        return self.method in _IDEMPOTENT or IDEMPOTENCY_KEY in self.headers

    @property
    def address(self) -> str:
        """Path and query."""
        pairs = [(name, _text(value)) for name, value in self.query.items() if value is not None]
        try:
            return f"{self.path}?{urlencode(pairs)}" if pairs else self.path
        except UnicodeEncodeError:
            raise InvalidError("a value of the query holds half a character") from None


def _text(value: QueryValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
