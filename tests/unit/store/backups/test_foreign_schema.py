"""A back-up whose database holds what this product does not make is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.backups import restored
from steelyard.errors import InvalidError

TRIGGER = (
    "CREATE TRIGGER evil AFTER INSERT ON audit_log BEGIN UPDATE users SET role = 'admin'; END"
)


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (TRIGGER, "the trigger 'evil'"),
        ("CREATE VIEW evil AS SELECT * FROM users", "the view 'evil'"),
        ("CREATE TABLE evil (a)", "the table 'evil'"),
        ("CREATE INDEX evil ON users (role)", "the index 'evil'"),
        ("DROP TABLE claims; CREATE VIEW claims AS SELECT 1", "the view 'claims'"),
        ("DROP TABLE claims; CREATE VIRTUAL TABLE claims USING fts5(a)", "the table 'claims'"),
        ("DROP TABLE claims; CREATE TABLE claims (run_id)", "in the table 'claims'"),
        ("ALTER TABLE users ADD COLUMN evil AS ('admin')", "in the table 'users'"),
        (
            "DROP INDEX ix_sessions_user; CREATE INDEX ix_sessions_user ON sessions (began)",
            "another index 'ix_sessions_user'",
        ),
        ("UPDATE runs SET run_id = '../registry/evil'", "a run '../registry/evil'"),
        (
            "UPDATE runs SET status = 'running', run_id = CAST(run_id AS BLOB)",
            "which is no id of a run",
        ),
    ],
)
def test_a_foreign_object_is_named_and_nothing_is_written(
    tmp_path: Path, script: str, named: str
) -> None:
    with pytest.raises(InvalidError, match="nothing was restored") as refused:
        restored(tmp_path, script)

    assert named in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_the_product_s_own_schema_is_restored(tmp_path: Path) -> None:
    assert (restored(tmp_path, "") / "steelyard.db").is_file()
