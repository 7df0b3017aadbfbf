"""Stores as earlier releases have left them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_LISTED = ("record_id", "passed", "score", "label", "tags")


_OF_THE_SERVICE = (
    *("users", "api_keys", "sessions", "login_failures", "idempotency_keys"),
    "saved_definitions",
)


_OF_REVIEW = (
    *("review_queues", "review_items", "review_slots", "review_drafts", "review_flags"),
    *("gold_labels", "results_seen"),
)


_ITEMS_OF_16 = """
ALTER TABLE review_items RENAME TO picked_items;
DROP INDEX ix_review_items_place;
CREATE TABLE review_items (
    item_id VARCHAR NOT NULL, queue_id VARCHAR NOT NULL, place INTEGER NOT NULL,
    idx INTEGER NOT NULL, repeat INTEGER NOT NULL, record_id VARCHAR NOT NULL,
    inclusion_prob FLOAT NOT NULL, stratum VARCHAR, PRIMARY KEY (item_id)
);
CREATE UNIQUE INDEX ix_review_items_place ON review_items (queue_id, place);
INSERT INTO review_items SELECT * FROM picked_items;
DROP TABLE picked_items;
UPDATE schema_version SET version = 16;
"""


_LABELS_OF_15 = """
ALTER TABLE annotations RENAME TO by_queue;
CREATE TABLE annotations (
    rubric VARCHAR NOT NULL, run_id VARCHAR NOT NULL, record_id VARCHAR NOT NULL,
    repeat INTEGER NOT NULL, annotator VARCHAR NOT NULL, revision INTEGER NOT NULL,
    at VARCHAR NOT NULL, row BLOB NOT NULL, is_withdrawn BOOLEAN DEFAULT '0' NOT NULL,
    PRIMARY KEY (rubric, run_id, record_id, repeat, annotator, revision)
) WITHOUT ROWID;
INSERT INTO annotations SELECT rubric, run_id, record_id, repeat, annotator,
    row_number() OVER (
        PARTITION BY rubric, run_id, record_id, repeat, annotator ORDER BY at, queue_id, revision
    ),
    at, CAST(json_remove(CAST(row AS TEXT), '$.queue_id') AS BLOB), is_withdrawn FROM by_queue;
DROP TABLE by_queue;
UPDATE review_drafts
    SET committed = CAST(json_remove(CAST(committed AS TEXT), '$.queue_id') AS BLOB);
UPDATE schema_version SET version = 15;
"""


def take_back_to_17(path: Path) -> None:
    """Make a store of this version one of version 17, which does not know who breaks ties."""
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE review_slots DROP COLUMN is_tie_break")
    connection.execute("UPDATE schema_version SET version = 17")
    connection.commit()
    connection.close()


def take_back_to_16(path: Path) -> None:
    """Make a store of this version one of version 16, whose queues are all drawn."""
    take_back_to_17(path)
    connection = sqlite3.connect(path)
    connection.executescript(_ITEMS_OF_16)
    connection.close()


def take_back_to_15(path: Path) -> None:
    """Make a store of this version one of version 15, where queues share their labels."""
    take_back_to_16(path)
    connection = sqlite3.connect(path)
    connection.executescript(_LABELS_OF_15)
    connection.close()


def take_back_to_14(path: Path) -> None:
    """Make a store of this version one of version 14, with all its runs and labels."""
    take_back_to_15(path)
    connection = sqlite3.connect(path)
    for name in _OF_REVIEW:
        connection.execute(f"DROP TABLE {name}")
    connection.execute("ALTER TABLE annotations DROP COLUMN is_withdrawn")
    connection.execute("UPDATE schema_version SET version = 14")
    connection.commit()
    connection.close()


def take_back_to_13(path: Path) -> None:
    """Make a store of this version one of version 13, with all its runs and labels."""
    take_back_to_14(path)
    connection = sqlite3.connect(path)
    for name in ("trace_sets", "traces", "trace_spans"):
        connection.execute(f"DROP TABLE {name}")
    connection.execute("UPDATE schema_version SET version = 13")
    connection.commit()
    connection.close()


def take_back_to_12(path: Path) -> None:
    """Make a store of this version one of version 12, with all its runs."""
    take_back_to_13(path)
    connection = sqlite3.connect(path)
    for name in _OF_THE_SERVICE:
        connection.execute(f"DROP TABLE {name}")
    connection.execute("ALTER TABLE runs DROP COLUMN is_queued")
    connection.execute("UPDATE schema_version SET version = 12")
    connection.commit()
    connection.close()


def take_back_to_10(path: Path) -> None:
    """Make a store of this version one of version 10, with all its runs."""
    take_back_to_12(path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE audit_log")
    connection.execute("DROP TABLE saved_settings")
    connection.execute("UPDATE schema_version SET version = 10")
    connection.commit()
    connection.close()


def take_back_to_8(path: Path) -> None:
    """Make a store of this version one of version 8, with all its runs."""
    take_back_to_10(path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE run_events")
    connection.execute("DROP INDEX ix_results_listed")
    for name in _LISTED:
        connection.execute(f"ALTER TABLE results DROP COLUMN {name}")
    connection.execute("ALTER TABLE check_results DROP COLUMN passed")
    connection.execute("UPDATE schema_version SET version = 8")
    connection.commit()
    connection.close()
