"""The address of the server that the setting `store` names, with its secrets put in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, quote, unquote

from steelyard.errors import ConfigError
from steelyard.settings import SQLITE

_SCHEME = "postgresql://"
_DIVIDERS = "@/?#"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def server_address(store: str, environ: Mapping[str, str]) -> str | None:
    """The address with `${NAME}` taken from the environment; None for a file of the project.

    A variable may hold all of it, or a user or password that need not be quoted. No error shows
    any of it: where a password ends is not known where it holds what divides an address.
    """
    if store == SQLITE:
        return None
    login, at, rest = store.rpartition("@")
    address = _filled(login, environ, is_quoted=True) + at + _filled(rest, environ)
    if not address.startswith(_SCHEME):
        raise ConfigError(
            f"`store` must be {SQLITE}, or an address such as "
            f"{_SCHEME}user:${{VARIABLE}}@host:5432/database"
        )
    if set(_DIVIDERS).intersection(_login(address)):
        raise ConfigError(
            f"`store`: one of {' '.join(_DIVIDERS)} is in the user or password, or an @ is after "
            "the host; percent-encode it (@ is %40), or name a variable that holds the password "
            f"as it is: {_SCHEME}user:${{VARIABLE}}@host:5432/database"
        )
    return address


def address_secrets(store: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The password, which nobody may see, unless it is one of the names beside it."""
    try:
        address = server_address(store, environ) or ""
    except ConfigError:  # what is wrong with it is said where it is opened
        return ()
    user, _, password = _login(address).partition(":")
    place, _, query = address.removeprefix(_SCHEME).rpartition("@")[2].partition("?")
    host, _, database = place.partition("/")
    names = {unquote(user), host.partition(":")[0], database, ""}
    found = (unquote(password), *parse_qs(query).get("password", ()))
    return tuple(one for one in found if one not in names)


def _login(address: str) -> str:
    """All before the last @, which is what ends it."""
    return address.removeprefix(_SCHEME).rpartition("@")[0]


def _filled(text: str, environ: Mapping[str, str], *, is_quoted: bool = False) -> str:
    def look_up(found: re.Match[str]) -> str:
        value = environ.get(found[1])
        if value is None:
            raise ConfigError(f"`store`: the environment variable {found[1]} is not set")
        return quote(value, safe="") if is_quoted else value

    return _VARIABLE.sub(look_up, text)
