"""The cookies of sessions and of logins that are under way."""

from __future__ import annotations

from steelyard.usecases.access.sessions import LIFETIME_S

COOKIE = "__Host-steelyard"
"""Browsers take a cookie of such a name only with Secure, and send it to no other host."""
PENDING_COOKIE = "__Host-steelyard-oidc"
_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax"
_PENDING_S = 600
"""How long somebody may take to log in at an issuer."""


def session_cookie(session_id: str) -> str:
    """The header that gives a browser its session."""
    return f"{COOKIE}={session_id}; Max-Age={LIFETIME_S}; {_ATTRIBUTES}"


def pending_cookie(value: str) -> str:
    """The header that makes a browser remember the login that it has begun."""
    return f"{PENDING_COOKIE}={value}; Max-Age={_PENDING_S}; {_ATTRIBUTES}"


def ended_cookie(name: str = COOKIE) -> str:
    """The header that takes a cookie away."""
    return f"{name}=; Max-Age=0; {_ATTRIBUTES}"
