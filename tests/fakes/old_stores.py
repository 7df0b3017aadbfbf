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


def take_back_to_14(path: Path) -> None:
    """Make a store of this version one of version 14, with all its runs and labels."""
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
