"""Sends requests to a server: key, request ids, and the one place that tries again."""

from __future__ import annotations

import random
import re
import ssl
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from steelyard.client.address import ServerAddress, parse_address
from steelyard.client.answers import MAX_JSON, error_of, read_all, read_json, retry_after_s
from steelyard.client.cancellation import Cancellation, current_cancellation
from steelyard.client.connections import BROKEN, ConnectionPool, Route, ServerAnswer, broken
from steelyard.client.http_requests import HttpRequest
from steelyard.client.proxies import find_proxy
from steelyard.errors import ConfigError, InvalidError, ServerUnreachableError, SteelyardError

Read = TypeVar("Read")
_BACKOFF_S = (0.2, 0.6, 1.8, 5.0)
_JITTER = 0.2
_MAX_WAIT_S = 60.0
"""A server that asks to wait longer gets no second try: the caller decides."""
_PASSING = {502, 503, 504}
_KEY = re.compile(r"[!-~]+")


class _Refusal(Exception):  # noqa: N818 - an answer that is raised, not a failure of its own
    """An answer that is no success, with what it says about another try."""

    def __init__(self, error: SteelyardError, status: int, wait_s: float | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.status = status
        self.retry_after_s = wait_s


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportSettings:
    """How a client talks to its server."""

    key: str | None = None
    timeout_s: float = 60.0
    """For connecting, for each piece of a body that is sent, and for an answer."""
    retries: int = 3
    ca_file: str | Path | None = None
    proxy: str | None = None


class Transport:
    """One server; it may be used from several threads."""

    def __init__(self, url: str, settings: TransportSettings, environ: Mapping[str, str]) -> None:
        self.address = parse_address(url)
        self._key = _required_key(settings.key)
        if settings.timeout_s <= 0 or settings.retries < 0:
            raise InvalidError("timeout_s must be more than 0, and retries 0 or more")
        self.timeout_s = settings.timeout_s
        self._retries = settings.retries
        self._random = random.Random()  # noqa: S311 - for jitter
        route = Route(
            address=self.address,
            proxy=find_proxy(self.address, settings.proxy, environ),
            trusted=_trusted(self.address, settings.ca_file),
            timeout_s=settings.timeout_s,
        )
        self._pool = ConnectionPool(route)

    def json(self, request: HttpRequest, kind: type[Read]) -> Read:
        """What the server answers, as its type; tried again where that is safe."""

        def attempt(cancellation: Cancellation) -> Read:
            with closing(self._open(request, cancellation)) as answer:
                return read_json(answer, kind, str(self.address))

        return self._with_retries(request, attempt)

    def bytes(self, request: HttpRequest) -> bytes:
        """The whole body of an answer."""

        def attempt(cancellation: Cancellation) -> bytes:
            with closing(self._open(request, cancellation)) as answer:
                return read_all(answer, MAX_JSON, str(self.address))

        return self._with_retries(request, attempt)

    def stream(self, request: HttpRequest) -> closing[ServerAnswer]:
        """An answer that is read piece by piece; only what comes before its body is retried."""
        return closing(self._with_retries(request, lambda stop: self._open(request, stop)))

    def pause(self, tried: int) -> float:
        """How long to wait before the next try."""
        wait = _BACKOFF_S[min(tried, len(_BACKOFF_S) - 1)]
        return wait * (1 + _JITTER * self._random.random())

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _with_retries(self, request: HttpRequest, attempt: Callable[[Cancellation], Read]) -> Read:
        tried, cancellation = 0, current_cancellation()
        while True:
            try:
                return attempt(cancellation)
            except _Refusal as refusal:
                error, wait = refusal.error, self._wait_after_refusal(request, refusal, tried)
            except ServerUnreachableError as failed:
                cancellation.require()
                error, wait = failed, self._wait_after_failure(request, failed, tried)
            if wait is None or tried >= self._retries:
                raise error from None
            cancellation.sleep(wait)
            tried += 1

    def _open(self, request: HttpRequest, cancellation: Cancellation) -> ServerAnswer:
        """One try: an answer of success, or an exception."""
        request_id = str(uuid.uuid4())
        # A server may close what nobody uses just when it is used again.
        connection = self._pool.take(is_fresh=not request.is_repeatable)
        is_sent = False
        try:
            connection.connect(cancellation)
            is_sent = True
            path, headers = self.address.prefix + request.address, self._headers(request)
            headers["x-request-id"] = request_id
            response = connection.ask(request.method, path, headers, request.body)
        except (*BROKEN, ValueError) as error:
            connection.close()
            raise broken(self.address, error, is_sent=is_sent) from None
        except BaseException:
            connection.close()
            raise
        answer = ServerAnswer(response, connection, self._pool)
        if answer.status // 100 == 2:
            return answer
        with closing(answer):
            raise self._refusal(answer, request_id)

    def _headers(self, request: HttpRequest) -> dict[str, str]:
        headers = {
            "user-agent": "steelyard",
            "accept": "application/json",
            "accept-encoding": "identity",
            **request.headers,
        }
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        return headers

    def _refusal(self, answer: ServerAnswer, request_id: str) -> _Refusal:
        error = error_of(answer, str(self.address), request_id)
        if self._key:
            error.args = tuple(str(one).replace(self._key, "***") for one in error.args)
        return _Refusal(error, answer.status, retry_after_s(answer))

    def _wait_after_refusal(
        self, request: HttpRequest, refusal: _Refusal, tried: int
    ) -> float | None:
        """Seconds until the next try; None where there must be none."""
        is_in_progress = refusal.status == 409 and refusal.retry_after_s is not None
        is_passing = refusal.status == 429 or (
            (refusal.status in _PASSING or is_in_progress) and request.is_repeatable
        )
        wait = max(self.pause(tried), refusal.retry_after_s or 0.0)
        return wait if is_passing and wait <= _MAX_WAIT_S else None

    def _wait_after_failure(
        self, request: HttpRequest, failed: ServerUnreachableError, tried: int
    ) -> float | None:
        is_safe = request.is_repeatable or not failed.is_sent
        return self.pause(tried) if is_safe and not failed.is_lasting else None


def _required_key(key: str | None) -> str | None:
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidError("the key has characters that no key has, such as spaces or line breaks")
    return key


def _trusted(address: ServerAddress, ca_file: str | Path | None) -> ssl.SSLContext | None:
    if ca_file is None:
        return None
    if not address.is_secure:
        raise InvalidError(f"ca_file changes nothing, since {address} is not https")
    try:
        return ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError:
        raise ConfigError(f"{ca_file} holds no PEM certificate that can be read") from None
    except OSError as error:
        raise ConfigError(f"{ca_file} cannot be read: {error.strerror}") from None
