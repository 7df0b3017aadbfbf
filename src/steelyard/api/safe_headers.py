"""Headers of every answer that does not set them itself."""

from __future__ import annotations

from collections.abc import Iterable

SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "content-security-policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
}
_LINES = tuple(
    (name.encode("ascii"), value.encode("ascii")) for name, value in SAFE_HEADERS.items()
)
_REQUEST_ID = b"x-request-id"
_NAMES = {_REQUEST_ID, *dict(_LINES)}


def with_safe_headers(
    headers: Iterable[tuple[bytes, bytes]], request_id: str
) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with those that it lacks, and with the id of its request."""
    own = dict(headers)
    added = ((_REQUEST_ID, request_id.encode("ascii")), *_LINES)
    if _NAMES.isdisjoint(own):
        return [*headers, *added]
    own.pop(_REQUEST_ID, None)
    kept = [header for header in headers if header[0] != _REQUEST_ID]
    return [*kept, *(line for line in added if line[0] not in own)]
