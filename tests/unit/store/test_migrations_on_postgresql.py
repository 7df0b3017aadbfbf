"""A PostgreSQL store of an older version is brought up to date, with all it holds."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert

from fakes.runs import stored_run
from servers.postgres import postgres
from steelyard.errors import UnavailableError
from steelyard.store.database import open_database
from steelyard.store.migrations import STEPS
from steelyard.store.owners import this_process
from steelyard.store.runs.repository import RunStore
from steelyard.store.tables import SCHEMA_VERSION, annotation_revisions

pytestmark = pytest.mark.trials
BACK_TO_10 = (
    *(
        f"DROP TABLE {name}"
        for name in (
            *("users", "api_keys", "sessions", "login_failures", "idempotency_keys"),
            *("saved_definitions", "trace_sets", "traces", "trace_spans", "review_queues"),
            *("review_items", "review_slots", "review_drafts", "review_flags", "gold_labels"),
            *("results_seen", "audit_log", "saved_settings"),
        )
    ),
    "ALTER TABLE runs DROP COLUMN is_queued",
    "ALTER TABLE annotations DROP COLUMN queue_id",  # with the key that it is a part of
    "ALTER TABLE annotations DROP COLUMN is_withdrawn",
    "ALTER TABLE annotations ADD PRIMARY KEY (rubric, run_id, record_id, repeat, revision)",
    "UPDATE runs SET owner = NULL, lease_until = NULL",
    "UPDATE schema_version SET version = 10",
)
SCHEMA = """
    SELECT table_name, column_name, data_type, is_nullable, collation_name,
           column_default IS NULL OR column_default LIKE 'nextval%'
    FROM information_schema.columns WHERE table_schema = 'public'
    ORDER BY table_name, column_name
"""
INDEXES = """
    SELECT tablename, regexp_replace(indexdef, 'INDEX [^ ]+pkey[0-9]* ON', 'INDEX pkey ON')
    FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2
"""


@pytest.fixture
def database() -> Iterator[str]:
    """A store of version 10 with a run and a label."""
    with postgres().database() as name:
        store = RunStore(open_database(postgres().address(name)))
        store.create(stored_run("1", owner="somebody"))
        with store.engine.begin() as connection:
            connection.execute(insert(annotation_revisions), LABEL)
        store.close()
        postgres().execute(*BACK_TO_10, database=name)
        yield name


LABEL = {
    "rubric": "r",
    "run_id": "run_1",
    "record_id": "a",
    "repeat": 0,
    "annotator": "ann",
    "queue_id": "",
    "revision": 1,
    "at": "now",
    "row": b'{"rubric": "r"}',
}


def test_it_becomes_one_of_this_version_whoever_opens_it_first(database: str) -> None:
    address = postgres().address(database)
    with ThreadPoolExecutor(4) as pool:
        engines = list(pool.map(open_database, [address] * 4))
    store = RunStore(engines[0])
    run = store.find("latest")
    store.close()
    for engine in engines:
        engine.dispose()

    assert (run.run_id, run.is_queued) == ("run_1", False)
    labels = "SELECT annotator, queue_id, revision, is_withdrawn FROM annotations"
    assert postgres().execute(labels, database=database) == [("ann", "", 1, False)]
    assert postgres().execute("SELECT version FROM schema_version", database=database) == [
        (SCHEMA_VERSION,)
    ]
    with postgres().database() as new:
        open_database(postgres().address(new)).dispose()
        for query in (SCHEMA, INDEXES):
            found, fresh = (postgres().execute(query, database=one) for one in (database, new))
            assert found == fresh


def test_a_step_that_fails_leaves_the_store_as_it_was(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(_operations: object) -> None:
        raise ZeroDivisionError

    before = postgres().execute(SCHEMA, database=database)
    monkeypatch.setitem(STEPS, SCHEMA_VERSION - 1, fail)
    with pytest.raises(ZeroDivisionError):
        open_database(postgres().address(database))

    assert postgres().execute(SCHEMA, database=database) == before


def test_it_is_not_changed_while_an_earlier_version_executes_a_run(database: str) -> None:
    held = f"UPDATE runs SET owner = '{this_process()}', lease_until = 9e9"
    postgres().execute(held, database=database)

    with pytest.raises(UnavailableError, match="by an earlier version of Steelyard"):
        open_database(postgres().address(database))
