"""API keys in the database, by the hash of their secret."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sqlalchemy import Engine, insert, select, update

from steelyard.errors import UnavailableError
from steelyard.model.access import ApiKey
from steelyard.model.audit import AuditEntry
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.tables import api_keys


class KeyStore:
    """Keys of programs; the database is opened at its first use."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def all(self) -> list[ApiKey]:
        """Every key, newest first; revoked ones too."""
        engine = self._engine()
        newest = select(api_keys).order_by(api_keys.c.created_at.desc(), api_keys.c.key_id)
        with translated_errors(engine), engine.connect() as connection:
            return [_key_of(row) for row in connection.execute(newest)]

    def find(self, sha256: str) -> ApiKey | None:
        """The key with this hash."""
        engine, query = self._engine(), select(api_keys).where(api_keys.c.sha256 == sha256)
        with translated_errors(engine), engine.connect() as connection:
            row = connection.execute(query).first()
        return None if row is None else _key_of(row)

    def add(self, key: ApiKey, sha256: str, entry: AuditEntry) -> None:
        """Keep a new key and log it."""
        row = {
            "key_id": key.key_id,
            "name": key.name,
            "role": key.role,
            "scopes": None if key.scopes is None else " ".join(key.scopes),
            "sha256": sha256,
            "created_at": key.created_at,
            "created_by": key.created_by,
            "expires_at": key.expires_at,
        }
        engine = self._engine()
        with translated_errors(engine), engine.begin() as connection:
            connection.execute(insert(api_keys), row)
            add_entry(connection, entry)

    def revoke(self, key_id: str, entry: AuditEntry) -> bool:
        """Revoke a key and log it; False if it is revoked already."""
        engine = self._engine()
        valid = update(api_keys).where(
            api_keys.c.key_id == key_id, api_keys.c.revoked_at.is_(None)
        )
        with translated_errors(engine), engine.begin() as connection:
            is_changed = connection.execute(valid.values(revoked_at=entry.at)).rowcount > 0
            if is_changed:
                add_entry(connection, entry)
        return is_changed

    def touch(self, key_id: str, at: str) -> None:
        """Note when a key was last used, if that can be written now."""
        engine = self._engine()
        used = update(api_keys).where(api_keys.c.key_id == key_id).values(last_used_at=at)
        # What only reads is answered on a full disk, too.
        with suppress(UnavailableError), translated_errors(engine), engine.begin() as connection:
            connection.execute(used)


def _key_of(row: Any) -> ApiKey:
    return ApiKey(
        key_id=row.key_id,
        name=row.name,
        role=row.role,
        scopes=None if row.scopes is None else tuple(row.scopes.split()),
        created_at=row.created_at,
        created_by=row.created_by,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
