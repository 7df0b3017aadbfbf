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
from steelyard.api.measurements import UNMATCHED
from steelyard.api.safe_headers import SAFE_HEADERS
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.api.tracing import ServedRequest

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_FORWARDED = ("forwarded", "x-real-ip", "via")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_PROBES = ("/healthz", "/readyz", "/metrics")
_OTHER_SITES = ("cross-site", "same-site")
_LOG = logging.getLogger("steelyard.access")


def is_loopback(host: str) -> bool:
    """Whether an address to listen at is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gatekeeper:
    """Gives every request an id and every answer safe headers; refuses other hosts' requests."""

    def __init__(self, app: ASGIApp, served: ServedProject) -> None:
        self._app = app
        self._settings = served.settings
        self._measurements = served.measurements
        self._tracing = served.tracing
        public = urlsplit(served.settings.public_url or "").hostname
        self._hosts = {*_LOOPBACK, _bracketed(served.settings.host)}
        self._hosts |= {_bracketed(public)} if public else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else str(uuid.uuid4())
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        began, answer = time.monotonic(), _Answer(send, request_id)
        self._measurements.begin()
        span = self._tracing.begin(headers)
        try:
            refused = self._refusal(scope["method"], headers)
            if refused:
                body = error_body(403, refused, request_id)
                await Response(body, 403, media_type="application/json")(scope, receive, answer)
            else:
                await self._app(scope, receive, answer)
        except Exception:
            if not answer.is_whole:  # one that is whole was logged where it was made
                raise
        finally:
            request = ServedRequest(
                method=scope["method"],
                route=state.get("route", UNMATCHED),
                path=scope["path"],
                status=answer.status,
                request_id=request_id,
            )
            self._note(request, state.get("actor"), time.monotonic() - began)
            if span:
                span.end(request)

    def _note(self, request: ServedRequest, actor: str | None, took_s: float) -> None:
        """Count and log a request that was served."""
        self._measurements.end(request.method, request.route, request.status, took_s)
        is_probe = request.route in _PROBES and request.status == 200
        _LOG.log(
            logging.DEBUG if is_probe else logging.INFO,
            "request",
            extra={
                "request_id": request.request_id,
                "method": request.method,
                "path": request.path,
                "status": request.status,
                "actor": actor,
                "ms": round(took_s * 1000, 1),
            },
        )

    def _refusal(self, method: str, headers: Headers) -> str | None:
        """Why a request is refused whoever sends it; None where nothing speaks against it."""
        name = _host_name(headers.get("host", ""))
        if name not in self._hosts:
            return f"this server is not called '{name}'; start it with its public address"
        if not self._settings.has_login and _is_forwarded(headers):
            return "a server without login answers no request that a proxy has forwarded"
        if method not in _SAFE_METHODS and not self._is_own_page(headers):
            return "pages of other sites may not change anything here"
        return None

    def _is_own_page(self, headers: Headers) -> bool:
        """Whether no browser says that a page of another site sends a request."""
        if headers.get("sec-fetch-site") in _OTHER_SITES:
            return False
        origins = headers.getlist("origin")
        return all(is_own_origin(one, headers["host"], self._settings) for one in origins)


def is_own_origin(origin: str, host: str, settings: ServerSettings) -> bool:
    """Whether pages of an origin are this server's own; the host is that of the request.

    Own pages are those of the public address, and those of the loopback address that was called.
    """
    if settings.public_url and origin == _origin_of(settings.public_url):
        return True
    return origin == f"http://{host}".lower() and _host_name(host) in _LOOPBACK


def _origin_of(url: str) -> str:
    """The origin of an address, as browsers write it: without the usual port."""
    parts = urlsplit(url)
    name = parts.hostname or ""
    name = f"[{name}]" if ":" in name else name
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in {None, usual} else f":{parts.port}"
    return f"{parts.scheme}://{name}{port}"


class _Answer:
    """Sends an answer on, with safe headers; knows how far it has come."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0
        self.is_whole = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self._request_id
            for name, value in SAFE_HEADERS.items():
                headers.setdefault(name, value)
        await self._send(message)
        is_body = message["type"] == "http.response.body"
        self.is_whole = is_body and not message.get("more_body", False)


def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    name, colon, port = host.rpartition(":")
    has_port = colon and port.isascii() and port.isdigit()
    return (name if has_port else host).lower()


def _bracketed(host: str) -> str:
    """A host as the Host header writes it."""
    return f"[{host.lower()}]" if ":" in host else host.lower()


def _is_forwarded(headers: Headers) -> bool:
    return any(name in _FORWARDED or name.startswith("x-forwarded-") for name in headers)
