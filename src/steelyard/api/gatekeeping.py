"""What holds for every request before it is routed: its id, its host, and safe headers."""

from __future__ import annotations

import ipaddress
import logging
import re
import time
import uuid
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from steelyard.api.errors import error_body
from steelyard.api.serving import ServerSettings

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_FORWARDED = ("forwarded", "x-real-ip", "via")
_SAFE = {
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
"""Headers of every answer that does not set them itself."""
_LOG = logging.getLogger("steelyard.access")


def is_loopback(host: str) -> bool:
    """Whether an address to listen at is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gatekeeper:
    """Gives every request an id and every answer safe headers; refuses other hosts' requests."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        public = urlsplit(settings.public_url or "").hostname
        self._hosts = {*_LOOPBACK, settings.host, *([public] if public else [])}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else str(uuid.uuid4())
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = time.monotonic(), 0

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answered = MutableHeaders(scope=message)
                answered["x-request-id"] = request_id
                for name, value in _SAFE.items():
                    answered.setdefault(name, value)
            await send(message)

        refused = self._refusal(headers)
        if refused:
            body = error_body(403, refused, request_id)
            await Response(body, 403, media_type="application/json")(scope, receive, send_safely)
        else:
            await self._app(scope, receive, send_safely)
        _LOG.info(
            "request",
            extra={
                "request_id": request_id,
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "actor": scope["state"].get("actor"),
                "ms": round((time.monotonic() - began) * 1000, 1),
            },
        )

    def _refusal(self, headers: Headers) -> str | None:
        """Why a request is refused whoever sends it; None where nothing speaks against it."""
        host = headers.get("host", "")
        name = host if host.endswith("]") else re.sub(r":\d+$", "", host)
        if name.lower() not in self._hosts:
            return f"this server is not called '{name}'; start it with its public address"
        if not self._settings.has_login and _is_forwarded(headers):
            return "a server without login answers no request that a proxy has forwarded"
        return None


def _is_forwarded(headers: Headers) -> bool:
    return any(name in _FORWARDED or name.startswith("x-forwarded-") for name in headers)
