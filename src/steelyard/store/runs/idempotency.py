"""Requests that may be sent again, and what was answered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, select, update

from steelyard.errors import ConflictError, RequestInProgressError
from steelyard.store.database import translated_errors
from steelyard.store.dialects import database_seconds, write_alone
from steelyard.store.tables import idempotency_keys as keys

KEPT_S = 24 * 3600.0


class RequestKey(NamedTuple):
    """What names a request: who sends it where, under which key."""

    actor: str
    route: str
    key: str
    """The hash of what was sent, which may be a secret."""


class KeptAnswer(NamedTuple):
    """What the first request was answered; None while nobody knows yet."""

    status: int | None
    body: bytes


class IdempotencyStore:
    """The requests of the last 24 hours that have a key."""

    def __init__(self, engine: Engine, owner: str, is_alive: Callable[[str], bool]) -> None:
        self._engine = engine
        self._owner = owner
        self._is_alive = is_alive

    @staticmethod
    def name(actor: str, route: str, key: str) -> RequestKey:
        """What names a request."""
        return RequestKey(actor, route, hashlib.sha256(key.encode()).hexdigest())

    def begin(self, key: RequestKey, sha256: str, body: bytes) -> KeptAnswer:
        """Take a key; where the first request was answered, its answer.

        Without a status the request is to be served: the body is the one given, or what a
        process that was killed meanwhile had given.
        """
        with translated_errors(self._engine), self._engine.begin() as connection:
            # Two requests of one key do not read the same.
            write_alone(connection, f"{keys.name} {' '.join(key)}")
            connection.execute(delete(keys).where(keys.c.at < database_seconds() - KEPT_S))
            kept = connection.execute(select(keys).where(_is(key))).first()
            if kept is None:
                self._add(connection, key, sha256, body)
                return KeptAnswer(None, body)
            if kept.request_sha256 != sha256:
                raise ConflictError("the Idempotency-Key was used for another request")
            if kept.status is None:
                self._take_over(connection, key, kept.owner)
            return KeptAnswer(kept.status, kept.body)

    def finish(self, key: RequestKey, status: int, body: bytes) -> None:
        """Keep the answer."""
        values = {"status": status, "body": body}
        with translated_errors(self._engine), self._engine.begin() as connection:
            connection.execute(update(keys).where(_is(key)).values(**values))

    def give_up(self, key: RequestKey) -> None:
        """Let the key be used again, as nothing came of the request."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            connection.execute(delete(keys).where(_is(key), keys.c.status.is_(None)))

    def _add(self, connection: Connection, key: RequestKey, sha256: str, body: bytes) -> None:
        row = {**key._asdict(), "request_sha256": sha256, "owner": self._owner, "body": body}
        connection.execute(insert(keys).values(at=database_seconds()), row)

    def _take_over(self, connection: Connection, key: RequestKey, owner: str) -> None:
        if self._is_alive(owner):
            raise RequestInProgressError("a request with this Idempotency-Key is being served")
        connection.execute(update(keys).where(_is(key)).values(owner=self._owner))


def _is(key: RequestKey) -> ColumnElement[bool]:
    return (keys.c.actor == key.actor) & (keys.c.route == key.route) & (keys.c.key == key.key)
