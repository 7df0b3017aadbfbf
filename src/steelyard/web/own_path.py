"""Addresses to go back to: of this site only."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

HOME = "/"
_MOST = 2_000


def own_path(text: str | None) -> str:
    """A path of this site with its query; the home page for anything else.

    Browsers read a backslash as a slash, and drop tabs and line breaks, so that each of them
    could make another host out of a path. What is written in per cent is looked at as well.
    """
    given = text or HOME
    path = unquote(given.partition("?")[0].partition("#")[0])
    is_odd = any(ord(sign) <= 32 or sign == "\\" for sign in given) or len(given) > _MOST
    is_hidden = any(ord(sign) < 32 or sign == "\\" for sign in path) or path.startswith("//")
    if is_odd or is_hidden or not given.startswith("/"):
        return HOME
    try:
        parts = urlsplit(given)
    except ValueError:
        return HOME
    is_own = not parts.scheme and not parts.netloc and parts.path not in {"/login", "/logout"}
    return given if is_own else HOME
