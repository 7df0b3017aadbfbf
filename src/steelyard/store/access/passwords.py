"""Passwords as argon2id hashes."""

from __future__ import annotations

from functools import cached_property
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_AT_ONCE = 2
"""A hash takes 64 MiB: more at once would let a flood of logins take all memory."""


class Argon2Passwords:
    """Hashes with the parameters that RFC 9106 recommends where memory is limited."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._slots = BoundedSemaphore(_AT_ONCE)

    def hash(self, password: str) -> str:
        """The hash to keep."""
        with self._slots:
            return self._hasher.hash(password)

    def matches(self, password_hash: str | None, password: str) -> bool:
        """Whether a password is right; takes as long for an unknown user, who has no hash."""
        known = self._nobodys if password_hash is None else password_hash
        try:
            with self._slots:
                is_right = self._hasher.verify(known, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False
        return is_right and password_hash is not None

    @cached_property
    def _nobodys(self) -> str:
        return self.hash("")
