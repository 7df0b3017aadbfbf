"""What holds for every request before it is routed: its id, its host, and safe headers."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from steelyard.api.errors import error_body
from steelyard.api.measurements import UNMATCHED
from steelyard.api.operation import ErrorForm
from steelyard.api.request_ids import request_id_of
from steelyard.api.request_log import RequestLog
from steelyard.api.safe_headers import with_safe_headers
from steelyard.api.secret_values import SecretValues
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.api.tracing import ServedRequest
from steelyard.usecases.access.keys import PREFIX

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_FORWARDED = frozenset(
    (
        *(b"forwarded", b"via", b"x-forwarded", b"x-real-ip", b"x-client-ip", b"true-client-ip"),
        *(b"cf-connecting-ip", b"fastly-client-ip", b"x-cluster-client-ip", b"x-proxyuser-ip"),
        *(b"x-original-host", b"x-original-forwarded-for", b"x-envoy-external-address"),
    )
)
"""What proxies usually tell of the request that they forward, beside `X-Forwarded-*`."""
_LIVENESS = ("/healthz", "/readyz")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_PROBES = ("/healthz", "/readyz", "/metrics")
_KEY = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{8,}}")
_OTHER_SITES = ("cross-site", "same-site")


def is_loopback(host: str) -> bool:
    """Whether an address to listen at is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gatekeeper:
    """Gives every request an id and every answer safe headers; refuses other hosts' requests."""

    def __init__(
        self, app: ASGIApp, served: ServedProject, error_forms: Mapping[str, ErrorForm]
    ) -> None:
        self._app = app
        self._error_forms = error_forms
        self._settings = served.settings
        self._measurements = served.measurements
        self._tracing = served.tracing
        self._log = RequestLog()
        self._secrets = SecretValues(served.project.secrets)
        public = urlsplit(served.settings.public_url or "").hostname
        self._hosts = {*_LOOPBACK, _bracketed(served.settings.host)}
        self._hosts |= {_bracketed(public)} if public else set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(raw=scope["headers"])
        given = headers.get("x-request-id")
        # The id is stored with what the request changes.
        request_id = request_id_of(None if given and self._secrets.are_in(given) else given)
        state = scope.setdefault("state", {})
        state["request_id"], state["secrets"] = request_id, self._secrets
        began, answer = time.monotonic(), _Answer(send, request_id)
        self._measurements.begin()
        span = self._tracing.begin(headers)
        try:
            refused = self._refusal(scope, headers)
            if refused:
                await self._refused(scope, refused)(scope, receive, answer)
            else:
                await self._app(scope, receive, answer)
        except Exception:
            if not answer.is_whole:  # one that is whole was logged where it was made
                raise
        except asyncio.CancelledError:
            # The time that requests have to end when the server stops is over.
            if answer.status:
                raise
            body = error_body(503, "the server stops; try again", request_id)
            closing = {"connection": "close", "retry-after": "1"}
            await Response(body, 503, closing, "application/json")(scope, receive, answer)
        finally:
            took_s = time.monotonic() - began
            route = state.get("route", UNMATCHED)
            self._measurements.end(scope["method"], route, answer.status, took_s)
            self._log_request(scope, route, answer.status, took_s)
            if span:
                request = ServedRequest(
                    method=scope["method"],
                    route=route,
                    path=_logged_path(scope),
                    status=answer.status,
                    request_id=request_id,
                )
                span.end(request)

    def _refused(self, scope: Scope, message: str) -> Response:
        """The answer to a request that is refused, in the form that its path has for errors."""
        form = self._error_forms.get(scope["path"])
        if form:
            return form.write(Request(scope), 403, message, {})
        body = error_body(403, message, scope["state"]["request_id"])
        return Response(body, 403, media_type="application/json")

    def _log_request(self, scope: Scope, route: str, status: int, took_s: float) -> None:
        is_probe, state = route in _PROBES and status == 200, scope["state"]
        self._log.add(
            logging.DEBUG if is_probe else logging.INFO,
            {
                "created": time.time(),
                "request_id": state["request_id"],
                "actor": state.get("actor"),
                "method": scope["method"],
                "path": _logged_path(scope),
                "status": status,
                "ms": round(took_s * 1000, 1),
            },
        )

    def _refusal(self, scope: Scope, headers: Headers) -> str | None:
        """Why a request is refused whoever sends it; None where nothing speaks against it."""
        name = _host_name(headers.get("host", ""))
        if name not in self._hosts:
            return f"this server is not called '{name}'; start it with its public address"
        if not self._settings.has_login and _is_forwarded(headers):
            return "a server without login answers no request that a proxy has forwarded"
        if not self._settings.has_login and _is_old(scope):
            # nginx speaks it to servers unless it is told otherwise, and tells nothing else.
            return "a server without login answers no HTTP/1.0, which proxies speak; use HTTP/1.1"
        if scope["method"] not in _SAFE_METHODS and not self._is_own_page(headers):
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
            message["headers"] = with_safe_headers(message["headers"], self._request_id)
        await self._send(message)
        is_body = message["type"] == "http.response.body"
        self.is_whole = is_body and not message.get("more_body", False)


def _logged_path(scope: Scope) -> str:
    """The path of a request for logs and traces, without keys that were put there by mistake."""
    return _KEY.sub("[redacted]", scope["path"])


def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    name, colon, port = host.rpartition(":")
    has_port = colon and port.isascii() and port.isdigit()
    return (name if has_port else host).lower()


def _bracketed(host: str) -> str:
    """A host as the Host header writes it."""
    return f"[{host.lower()}]" if ":" in host else host.lower()


def _is_old(scope: Scope) -> bool:
    """Whether a request is of HTTP/1.0, and more than the probe of a balancer."""
    return scope["http_version"] == "1.0" and scope["path"] not in _LIVENESS


def _is_forwarded(headers: Headers) -> bool:
    return any(name in _FORWARDED or name.startswith(b"x-forwarded-") for name, _ in headers.raw)
