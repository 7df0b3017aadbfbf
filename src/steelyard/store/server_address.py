"""The address of the server that the setting `store` names, with its secrets put in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlsplit

from steelyard.errors import ConfigError
from steelyard.settings import SQLITE

_SCHEME = "postgresql://"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def server_address(store: str, environ: Mapping[str, str]) -> str | None:
    """The address with `${NAME}` taken from the environment; None for a file of the project.

    A variable may hold all of it, or a user or password that need not be quoted.
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
    return address


def address_secrets(store: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The password, which nobody may see, unless it is one of the names beside it."""
    try:
        parts = urlsplit(server_address(store, environ) or "")
        password = unquote(parts.password or "")
    except (ConfigError, ValueError):  # what is wrong with it is said where it is opened
        return ()
    names = {unquote(parts.username or ""), parts.hostname, parts.path.strip("/"), ""}
    return () if password in names else (password,)


def _filled(text: str, environ: Mapping[str, str], *, is_quoted: bool = False) -> str:
    def look_up(found: re.Match[str]) -> str:
        value = environ.get(found[1])
        if value is None:
            raise ConfigError(f"`store`: the environment variable {found[1]} is not set")
        return quote(value, safe="") if is_quoted else value

    return _VARIABLE.sub(look_up, text)
