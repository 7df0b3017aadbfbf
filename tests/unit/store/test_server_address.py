"""The setting `store`, with its secrets put in."""

from __future__ import annotations

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
    ("store", "secrets"),
    [
        ("postgresql://me:${PASSWORD}@db/runs", ("p@ss/w:rd",)),
        ("${STORE}", ("hidden",)),
        ("postgresql://runs:runs@db/runs", ()),
        ("postgresql://me@db/runs", ()),
        ("postgresql://me:${NOBODY}@db/runs", ()),
        (SQLITE, ()),
    ],
)
def test_a_password_is_a_secret_unless_it_is_a_name_beside_it(
    store: str, secrets: tuple[str, ...]
) -> None:
    assert address_secrets(store, ENVIRON) == secrets
