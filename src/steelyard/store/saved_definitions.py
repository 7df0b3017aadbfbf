"""Rubrics, judges and datasets in the database, as they were sent."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from sqlalchemy import ColumnElement, Connection, Engine, and_, select, update

from steelyard.model.audit import AuditEntry
from steelyard.model.published import PublishedKind
from steelyard.model.saved import SavedDefinition
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.dialects import insert_or_replace, write_alone
from steelyard.store.tables import saved_definitions as saved

_DESCRIBED = tuple(column for column in saved.c if column.name != "content")


class SavedDefinitionStore:
    """Saved versions by kind, id and version; the database is opened at its first use."""

    def __init__(self, engine: Callable[[], Engine], *, is_there: Callable[[], bool]) -> None:
        self._engine = engine
        self._is_there = is_there

    def all(self, kind: PublishedKind) -> tuple[SavedDefinition, ...]:
        """Every version of a kind, without its content; none where there is no database yet."""
        if not self._is_there():
            return ()
        engine = self._engine()
        query = select(*_DESCRIBED).where(saved.c.kind == kind)
        with translated_errors(engine), engine.connect() as connection:
            rows = connection.execute(query.order_by(saved.c.id, saved.c.version)).mappings()
            return tuple(_read({**row}) for row in rows)

    def content(self, one: SavedDefinition) -> bytes:
        """The bytes of a version; empty where it is gone."""
        engine = self._engine()
        query = select(saved.c.content).where(_is(one))
        with translated_errors(engine), engine.connect() as connection:
            return connection.execute(query).scalar() or b""

    @contextmanager
    def changing(self, one: SavedDefinition) -> Generator[DefinitionTransaction]:
        """A change of one version in one transaction; an exception undoes all of it."""
        engine = self._engine()
        with translated_errors(engine), engine.begin() as connection:
            write_alone(connection, saved.name)
            yield DefinitionTransaction(connection, one)


class DefinitionTransaction:
    """One version while nobody else can change it."""

    def __init__(self, connection: Connection, one: SavedDefinition) -> None:
        self._connection = connection
        self._one = one
        row = connection.execute(select(*_DESCRIBED).where(_is(one))).mappings().first()
        self.before = None if row is None else _read({**row})

    def content(self) -> bytes:
        """The bytes of the version before; empty where it is new."""
        query = select(saved.c.content).where(_is(self._one))
        return self._connection.execute(query).scalar() or b""

    def put(self, one: SavedDefinition, content: bytes, entry: AuditEntry) -> None:
        """Keep the version, in the place of the one before, and log it."""
        key = {"kind": one.kind, "id": one.id, "version": one.version or ""}
        values = {
            "contract": one.contract,
            "extension": one.extension,
            "sha256": one.sha256,
            "size": one.size,
            "saved_at": one.saved_at,
            "archived_at": one.archived_at,
            "content": content,
        }
        self._connection.execute(insert_or_replace(saved, key, values))
        self.add(entry)

    def archive(self, one: SavedDefinition, entry: AuditEntry) -> None:
        """Keep the version from new runs, and log it."""
        self._connection.execute(update(saved).where(_is(one)).values(archived_at=entry.at))
        self.add(entry)

    def add(self, entry: AuditEntry) -> None:
        """Log what belongs to the change."""
        add_entry(self._connection, entry)


def _is(one: SavedDefinition) -> ColumnElement[bool]:
    return and_(
        saved.c.kind == one.kind, saved.c.id == one.id, saved.c.version == (one.version or "")
    )


def _read(row: dict[str, object]) -> SavedDefinition:
    return SavedDefinition(**{**row, "version": row["version"] or None})  # pyright: ignore[reportArgumentType]
