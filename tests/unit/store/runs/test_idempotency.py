"""Requests that may be sent again."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from sqlalchemy import Engine, update

from fakes.stores import open_store
from steelyard.errors import ConflictError
from steelyard.store.runs.idempotency import KEPT_S, IdempotencyStore, KeptAnswer, RequestKey
from steelyard.store.tables import idempotency_keys

pytestmark = pytest.mark.usefixtures("both_stores")

KEY = RequestKey("ada", "POST /v1/runs", "k")


@pytest.fixture
def engine(tmp_path: Path) -> Generator[Engine]:
    made = open_store(tmp_path / "steelyard.db")
    yield made
    made.dispose()


def store(engine: Engine, owner: str = "here:1:") -> IdempotencyStore:
    """The requests as one process sees them, to which only the others of its name are alive."""
    return IdempotencyStore(engine, owner, lambda other: other == owner)


def test_an_answer_is_kept_for_the_same_request(engine: Engine) -> None:
    keys = store(engine)
    assert keys.begin(KEY, "sha", b"run_1") == KeptAnswer(None, b"run_1")
    keys.finish(KEY, 202, b"{}")

    assert keys.begin(KEY, "sha", b"run_2") == KeptAnswer(202, b"{}")
    with pytest.raises(ConflictError, match="another request"):
        keys.begin(KEY, "other", b"run_2")
    assert keys.begin(KEY._replace(actor="bob"), "other", b"run_3").status is None
    elsewhere = RequestKey("ada", "POST /v1/runs/{run_id}/retry", "k")
    assert keys.begin(elsewhere, "other", b"run_4") == KeptAnswer(None, b"run_4")


def test_a_request_that_is_being_served_is_not_served_twice(engine: Engine) -> None:
    keys = store(engine)
    keys.begin(KEY, "sha", b"run_1")

    with pytest.raises(ConflictError, match="is being served"):
        keys.begin(KEY, "sha", b"run_2")
    keys.give_up(KEY)
    assert keys.begin(KEY, "other", b"run_2") == KeptAnswer(None, b"run_2")


def test_a_request_of_a_killed_process_is_served_under_the_same_run(engine: Engine) -> None:
    store(engine, "here:1:").begin(KEY, "sha", b"run_1")

    assert store(engine, "here:2:").begin(KEY, "sha", b"run_2") == KeptAnswer(None, b"run_1")


def test_a_key_is_forgotten_after_a_day(engine: Engine) -> None:
    keys = store(engine)
    keys.begin(KEY, "sha", b"run_1")
    keys.finish(KEY, 202, b"{}")
    at = idempotency_keys.c.at
    with engine.begin() as connection:
        connection.execute(update(idempotency_keys).values(at=at - KEPT_S - 1))

    assert keys.begin(KEY, "other", b"run_2") == KeptAnswer(None, b"run_2")
