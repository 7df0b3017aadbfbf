"""Passwords are hashed slowly, and nobody learns which names exist."""

from __future__ import annotations

import time

import pytest
from argon2 import PasswordHasher

from steelyard.store.access import passwords as store_passwords
from steelyard.store.access.passwords import Argon2Passwords


@pytest.fixture
def passwords(monkeypatch: pytest.MonkeyPatch) -> Argon2Passwords:
    """The real hashes, with all they cost."""
    monkeypatch.setattr(store_passwords, "PasswordHasher", PasswordHasher)
    return Argon2Passwords()


def test_the_right_password_matches_its_hash(passwords: Argon2Passwords) -> None:
    hashed = passwords.hash("correct horse")

    assert passwords.matches(hashed, "correct horse")
    assert not passwords.matches(hashed, "correct horsf")
    assert hashed != passwords.hash("correct horse")
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


@pytest.mark.parametrize("password", ["", "correct horse", "\ud800"])
def test_nobody_matches_without_a_hash(passwords: Argon2Passwords, password: str) -> None:
    assert not passwords.matches(None, password)


def test_what_is_no_hash_matches_nothing(passwords: Argon2Passwords) -> None:
    assert not passwords.matches("plain", "plain")


def test_an_unknown_user_takes_as_long_as_a_known_one(passwords: Argon2Passwords) -> None:
    hashed = passwords.hash("correct horse")
    passwords.matches(None, "warm")

    def seconds(known: str | None) -> float:
        times: list[float] = []
        for _ in range(3):
            began = time.process_time()
            passwords.matches(known, "wrong")
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(None) > seconds(hashed) / 2
