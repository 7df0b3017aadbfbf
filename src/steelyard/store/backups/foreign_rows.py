"""Refuses a database with rows that this product would never have saved.

People look at users, keys, suites and targets after a restore: none may hide there, and none may
keep the server from starting.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from steelyard.errors import InvalidError
from steelyard.model.access import ROLES
from steelyard.model.names import is_user_name, require_name
from steelyard.model.published import PublishedKind
from steelyard.store.backups.database_copies import copied_rows
from steelyard.store.saved_settings import read_row

_KEY_ID = re.compile(r"key_[0-9a-f]{16}")
_KINDS: tuple[PublishedKind, ...] = ("rubric", "judge", "dataset")


def require_known_rows(path: Path) -> None:
    """Refuse names, roles and saved entries that no version of the product accepts."""
    for what, query, is_known in _RULES:
        for row in copied_rows(path, query):
            if not is_known(*row):
                raise InvalidError(
                    f"the database of the back-up has a {what} {str(row[0])[:100]!a}, which "
                    "Steelyard does not accept; nothing was restored"
                )


def _is_user(name: object, role: object) -> bool:
    return isinstance(name, str) and is_user_name(name) and role in ROLES


def _is_key(name: object, key_id: object, role: object) -> bool:
    return _is_named(name) and bool(_KEY_ID.fullmatch(str(key_id))) and role in ROLES


def _is_setting(name: object, kind: object, row: object) -> bool:
    return kind in {"suites", "targets"} and read_row(name, row) is not None


def _is_definition(name: object, version: object, kind: object) -> bool:
    return _is_named(name) and (version == "" or _is_named(version)) and kind in _KINDS


def _is_named(name: object) -> bool:
    try:
        require_name("", name)
    except InvalidError:
        return False
    return True


_RULES: tuple[tuple[str, str, Callable[..., bool]], ...] = (
    ("user", "SELECT name, role FROM users", _is_user),
    ("key", "SELECT name, key_id, role FROM api_keys", _is_key),
    ("suite or target", 'SELECT name, kind, "row" FROM saved_settings', _is_setting),
    ("saved version", "SELECT id, version, kind FROM saved_definitions", _is_definition),
)
