"""An OpenID Connect issuer: discovery, the exchange of codes, and the check of ID tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping
from http.client import HTTPException
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec

from steelyard.errors import ConfigError, UnauthorizedError, UnavailableError
from steelyard.model.json_value import JsonObject
from steelyard.settings import OidcSettings

if TYPE_CHECKING:
    import jwt

_ALGORITHMS = [
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"),
]
"""Asymmetric ones alone: with others, whoever knows the client's secret could sign."""
_TIMEOUT_S = 10
_MAX_BYTES = 1024 * 1024
_KEPT_S = 3600.0
"""How long what the issuer says of itself is kept."""
_AGAIN_S = 30.0
"""Keys that are not known are asked for again no sooner."""
_LEEWAY_S = 60
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Pending(Protocol):
    """The random texts of one login."""

    @property
    def state(self) -> str:
        """Which login of the browser it is."""
        ...

    @property
    def nonce(self) -> str:
        """What the ID token must repeat."""
        ...

    @property
    def verifier(self) -> str:
        """What proves that the code was issued for this login."""
        ...


class _Endpoints(NamedTuple):
    authorization: str
    token: str
    keys: str
    takes_basic: bool
    """Whether a client names its secret in a header, as is the default, or in the body."""


class _Fetched(NamedTuple):
    at: float
    value: Any


class _NoRedirects(HTTPRedirectHandler):
    # An issuer answers at the address that it names.
    def redirect_request(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Nowhere."""


def open_issuer(settings: OidcSettings, environ: Mapping[str, str]) -> OpenIdIssuer:
    """The issuer of the project file, which must say all that is needed."""
    for name in ("issuer", "client_id", "role_claim", "roles"):
        if not getattr(settings, name):
            raise ConfigError(f"oidc: '{name}' is missing in the project file")
    if find_spec("jwt") is None or find_spec("cryptography") is None:
        raise ConfigError("OpenID Connect needs an extra: pip install 'steelyard[oidc]'")
    variable = settings.client_secret_env
    secret = environ.get(variable) if variable else None
    if variable and not secret:
        raise ConfigError(f"oidc: the environment variable {variable} is not set")
    if "@" in (settings.issuer or ""):
        # It may hold a secret, so that it is not repeated.
        raise ConfigError("oidc: the issuer must be an address without a user or password")
    if not _is_safe(settings.issuer or ""):
        raise ConfigError(f"oidc: the issuer must be an https address, not {settings.issuer}")
    return OpenIdIssuer(settings, ClientSecret(secret) if secret else None)


class ClientSecret:
    """The secret of the client, which is shown nowhere: neither in a log nor in a traceback."""

    __slots__ = ("reveal",)

    def __init__(self, secret: str) -> None:
        self.reveal = lambda: secret

    def __repr__(self) -> str:
        return "***"


class OpenIdIssuer:
    """The issuer that a project trusts; may be used from several threads."""

    def __init__(self, settings: OidcSettings, secret: ClientSecret | None) -> None:
        self._issuer = settings.issuer or ""
        self._client_id = settings.client_id or ""
        self._scopes = tuple(dict.fromkeys(("openid", *settings.scopes)))
        self._secret = secret
        self._lock = Lock()
        self._described: _Fetched | None = None
        self._keys: _Fetched | None = None

    def __repr__(self) -> str:
        return f"OpenIdIssuer('{self._issuer}', client_id='{self._client_id}')"

    def authorization_url(self, redirect_uri: str, pending: Pending) -> str:
        """Where a browser goes to log in."""
        challenge = hashlib.sha256(pending.verifier.encode("ascii")).digest()
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self._scopes),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).decode("ascii").rstrip("="),
            "code_challenge_method": "S256",
        }
        address = self._endpoints().authorization
        return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"

    def claims(self, code: str, redirect_uri: str, pending: Pending) -> JsonObject:
        """The verified claims of the ID token that a code is exchanged for."""
        answer = self._exchanged(code, redirect_uri, pending.verifier)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise UnavailableError("the issuer answers without an ID token")
        claims = self._verified(token)
        nonce = claims.get("nonce")
        if not isinstance(nonce, str) or not _is_same(nonce, pending.nonce):
            raise UnauthorizedError("the ID token belongs to another login; log in again")
        return claims

    def _verified(self, token: str) -> JsonObject:
        import jwt  # noqa: PLC0415 - an extra

        try:
            claims = jwt.decode(
                token,
                self._key_of(token),
                algorithms=_ALGORITHMS,
                audience=self._client_id,
                issuer=self._issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, RecursionError) as wrong:
            raise UnauthorizedError(f"the ID token is not valid: {wrong}") from None
        audience = claims["aud"]
        is_shared = isinstance(audience, list) and len(cast(list[str], audience)) > 1
        if claims.get("azp", None if is_shared else self._client_id) != self._client_id:
            raise UnauthorizedError("the ID token is not valid: it was issued to another client")
        return cast(JsonObject, claims)

    def _key_of(self, token: str) -> jwt.PyJWK:
        """The key of the issuer that a token names; new keys are asked for once in a while."""
        import jwt  # noqa: PLC0415 - an extra

        header = jwt.get_unverified_header(token)
        key_id, algorithm = header.get("kid"), header.get("alg")
        if algorithm not in _ALGORITHMS:
            raise UnauthorizedError(f"the ID token is not valid: signed with {algorithm!a}")
        for age_s in (_KEPT_S, _AGAIN_S):
            keys = [key for key in self._key_set(age_s) if key.get("use", "sig") == "sig"]
            found = [key for key in keys if key.get("kid") == key_id]
            if key_id is None and len(keys) == 1:
                found = keys
            if found:
                return jwt.PyJWK.from_dict(found[0], algorithm)
        raise UnauthorizedError("the ID token is not valid: the issuer has no such key")

    def _exchanged(self, code: str, redirect_uri: str, verifier: str) -> JsonObject:
        endpoints = self._endpoints()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Accept": "application/json"}
        secret = self._secret.reveal() if self._secret else None
        if secret is not None and endpoints.takes_basic:
            pair = f"{quote(self._client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self._client_id}
            form |= {} if secret is None else {"client_secret": secret}
        return _fetched(endpoints.token, urlencode(form).encode(), headers)

    def _endpoints(self) -> _Endpoints:
        with self._lock:
            if self._described is None or _age_s(self._described) > _KEPT_S:
                self._described = _Fetched(time.monotonic(), self._discovered())
            return cast(_Endpoints, self._described.value)

    def _discovered(self) -> _Endpoints:
        address = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        described = _fetched(address)
        if described.get("issuer") != self._issuer:
            raise UnavailableError(f"{address} describes another issuer than {self._issuer}")
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        found = [str(described.get(name)) for name in names]
        for url in found:
            if not _is_safe(url):
                raise UnavailableError(f"{address} names '{url}', which is not an https address")
        methods = described.get("token_endpoint_auth_methods_supported")
        takes_basic = not isinstance(methods, list) or "client_secret_basic" in methods
        return _Endpoints(found[0], found[1], found[2], takes_basic)

    def _key_set(self, age_s: float) -> list[dict[str, Any]]:
        address = self._endpoints().keys
        with self._lock:
            if self._keys is None or _age_s(self._keys) > age_s:
                keys = _fetched(address).get("keys")
                listed = keys if isinstance(keys, list) else []
                known = [key for key in listed if isinstance(key, dict)]
                self._keys = _Fetched(time.monotonic(), known)
            return cast(list[dict[str, Any]], self._keys.value)


def _age_s(fetched: _Fetched) -> float:
    return time.monotonic() - fetched.at


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


def _is_safe(address: str) -> bool:
    """Whether nobody can listen in: https, or on this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def _fetched(
    address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> JsonObject:
    """The JSON object at an address of the issuer."""
    request = Request(address, body, dict(headers or {}))  # noqa: S310 - https, see above
    try:
        with build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_S) as answer:
            data: bytes = answer.read(_MAX_BYTES)
        found: Any = msgspec.json.decode(data)
    except HTTPError as error:
        with error:
            if body is not None and error.code in {400, 401}:
                raise UnauthorizedError("the issuer does not accept the code") from None
            raise UnavailableError(f"{address} answers {error.code}") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise UnavailableError(f"the issuer cannot be reached at {address}: {reason}") from None
    except (msgspec.DecodeError, RecursionError):
        raise UnavailableError(f"{address} does not answer with JSON") from None
    if not isinstance(found, dict):
        raise UnavailableError(f"{address} does not answer with a JSON object")
    return cast(JsonObject, found)
