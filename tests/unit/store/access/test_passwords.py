"""Passwords are hashed slowly, and nobody learns which names exist."""

from __future__ import annotations

import time

import pytest

from steelyard.store.access.passwords import Argon2Passwords


@pytest.fixture(scope="module")
def passwords() -> Argon2Passwords:
    """The real hashes."""
    return Argon2Passwords()


def test_the_right_password_matches_its_hash(passwords: Argon2Passwords) -> None:
    hashed = passwords.hash("correct horse")

    assert passwords.matches(hashed, "correct horse")
    assert not passwords.matches(hashed, "correct horsf")
    assert hashed != passwords.hash("correct horse")


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
