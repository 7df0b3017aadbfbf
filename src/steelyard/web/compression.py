"""Pages and files compressed for clients that take that."""

from __future__ import annotations

import gzip

from starlette.datastructures import Headers
from starlette.responses import Response

_WORTH = 1_400
"""Fewer bytes fit one packet in any case."""
_LEVEL = 6


def takes_gzip(headers: Headers) -> bool:
    """Whether a client takes compressed answers."""
    for one in headers.get("accept-encoding", "").split(","):
        name, _, quality = one.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def compressed(answer: Response, headers: Headers) -> Response:
    """An answer with a whole body, compressed where that is worth it."""
    answer.headers["vary"] = "accept-encoding"
    if takes_gzip(headers) and len(answer.body) >= _WORTH:
        answer.body = gzip.compress(bytes(answer.body), _LEVEL, mtime=0)
        answer.headers["content-encoding"] = "gzip"
        answer.headers["content-length"] = str(len(answer.body))
    return answer
