"""The setting `store`, with its secrets put in."""

from __future__ import annotations

import re

import pytest

from steelyard.errors import ConfigError
from steelyard.settings import SQLITE
from steelyard.store.server_address import address_secrets, server_address

ENVIRON = {"PASSWORD": "p@ss/w:rd", "STORE": "postgresql://me:hidden@db/runs", "HOST": "db:5432"}


@pytest.mark.parametrize(
    ("store", "address"),
    [
        (SQLITE, None),
        ("postgresql://db/runs", "postgresql://db/runs"),
        (
            "postgresql://me:${PASSWORD}@${HOST}/runs",
            "postgresql://me:p%40ss%2Fw%3Ard@db:5432/runs",
        ),
        ("${STORE}", "postgresql://me:hidden@db/runs"),
    ],
)
def test_variables_are_put_into_the_address(store: str, address: str | None) -> None:
    assert server_address(store, ENVIRON) == address


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("postgresql://me:${NOBODY}@db/runs", "the environment variable NOBODY is not set"),
        ("postgres://me@db/runs", r"must be sqlite, or an address such as postgresql://user"),
    ],
)
def test_what_is_no_store_is_refused(store: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        server_address(store, ENVIRON)


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://me:ab/c@Tail-secret-9@127.0.0.1:5432/runs",
        "postgresql://me:Tail-secret@9@127.0.0.1/runs",
        "postgresql://Tail@secret-9:pw@127.0.0.1/runs",
        "postgresql://me:Tail/secret-9@127.0.0.1/runs",
        "postgresql://me:Tail?secret#9@127.0.0.1/runs",
        "postgresql://127.0.0.1:5432/runs?user=me&password=ab@Tail-secret-9",
        "${SPOILT}",
    ],
)
def test_a_password_that_divides_the_address_is_refused_and_shown_nowhere(store: str) -> None:
    environ = {"SPOILT": "postgresql://me:ab@Tail-secret-9@127.0.0.1/runs"}
    with pytest.raises(ConfigError, match=r"percent-encode it \(@ is %40\)") as refused:
        server_address(store, environ)

    assert "$" + "{VARIABLE}" in str(refused.value)
    assert not {"Tail", "secret", "127"} & set(re.findall(r"[A-Za-z]+|\d+", str(refused.value)))
    assert address_secrets(store, environ) == ()


@pytest.mark.parametrize(
    ("store", "secrets"),
    [
        ("postgresql://me:${PASSWORD}@db/runs", ("p@ss/w:rd",)),
        ("${STORE}", ("hidden",)),
        ("postgresql://runs:runs@db/runs", ()),
        ("postgresql://me@db/runs", ()),
        ("postgresql://me:a:b%40c@db:5432/runs?application_name=x", ("a:b@c",)),
        ("postgresql:///runs?host=%2Ftmp&user=me&password=hid%40den", ("hid@den",)),
        ("postgresql://me:${NOBODY}@db/runs", ()),
        (SQLITE, ()),
    ],
)
def test_a_password_is_a_secret_unless_it_is_a_name_beside_it(
    store: str, secrets: tuple[str, ...]
) -> None:
    assert address_secrets(store, ENVIRON) == secrets
