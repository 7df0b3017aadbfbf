"""A small OpenID Connect issuer: real HTTP, real RSA keys, and lies on request."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

CLIENT = "steelyard"
SECRET = "client secret with : and é"


def new_key() -> RSAPrivateKey:
    """A key to sign with."""
    return generate_private_key(65537, 2048)


@cache
def first_key() -> RSAPrivateKey:
    """The key that every issuer begins with: making one takes long."""
    return new_key()


@dataclass
class OpenIdServer:
    """What the issuer says, and what it was told."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    """The claims of whoever logs in next, over the usual ones."""
    described: dict[str, Any] = field(default_factory=dict[str, Any])
    """What discovery says instead."""
    key: RSAPrivateKey = field(default_factory=first_key)
    key_id: str = "first"
    signed_with: Any = None
    """Another key to sign with than the one that is published."""
    algorithm: str = "RS256"
    token_status: int = 200
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def discovery(self) -> dict[str, Any]:
        """The configuration."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?tenant=1",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            **self.described,
        }

    def key_set(self) -> dict[str, Any]:
        """The published keys, one for encryption among them."""
        public = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**public, "use": "enc"}, {**public, "kid": self.key_id, "use": "sig"}]}

    def authorized(self, query: dict[str, str]) -> str:
        """Where a browser goes whose user has logged in."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        back = {"code": code, "state": query["state"], "session_state": "x", "iss": self.url}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """The answer to a code; None where client, address or verifier are wrong."""
        asked = self.codes.pop(form.get("code", ""), None)
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        name, _, secret = pair.partition(":")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            asked is None
            or (unquote(name), unquote(secret)) != (CLIENT, SECRET)
            or form.get("redirect_uri") != asked["redirect_uri"]
            or asked["code_challenge"] != challenge
        ):
            return None
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "user-1",
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
        }
        signed = {
            name: value for name, value in {**usual, **self.claims}.items() if value is not None
        }
        headers = {"kid": self.key_id}
        key: Any = None if self.algorithm == "none" else self.signed_with or self.key
        return {"id_token": jwt.encode(signed, key, self.algorithm, headers)}


def _answering(server: OpenIdServer) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self._answer(302, b"", {"Location": server.authorized(query)})
                return
            known = {
                "/.well-known/openid-configuration": server.discovery,
                "/keys": server.key_set,
            }
            made = known.get(parts.path)
            self._answer(200 if made else 404, json.dumps(made() if made else {}).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            made = server.token(form, self.headers.get("authorization", ""))
            status = 400 if made is None else server.token_status
            self._answer(status, json.dumps(made or {"error": "invalid_grant"}).encode())

        def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    return Answering


@contextmanager
def openid_issuer() -> Generator[OpenIdServer]:
    """An issuer that runs for the length of a test."""
    state = OpenIdServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), _answering(state)) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join(10)
