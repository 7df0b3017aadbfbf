"""A back-up with rows that this product would never have saved is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.backups import restored
from steelyard.errors import InvalidError

USER = "INSERT INTO users VALUES ({}, {}, NULL, NULL, NULL, '2026-01-01')"
KEY = "INSERT INTO api_keys VALUES ({}, {}, {}, NULL, 'ab', '2026', 'me', NULL, NULL, NULL)"
SETTING = "INSERT INTO saved_settings VALUES ({}, {}, '2026', {})"
DEFINITION = (
    "INSERT INTO saved_definitions (kind, id, version, contract, extension, sha256, size, "
    "saved_at, content) VALUES ({}, {}, {}, 'judge', '.json', '', 0, '2026', x'')"
)
HIDDEN = "'zz' || char(27) || '[2K'"
KEY_ID = "'key_0123456789abcdef'"
DEEP = "CAST('{\"dataset\":' || replace(hex(zeroblob(25000)), '0', '[') AS BLOB)"


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (USER.format(HIDDEN, "'admin'"), r"a user 'zz\\x1b"),
        (USER.format("'ada'", "'root'"), "a user 'ada'"),
        (USER.format("x'ff00'", "'admin'"), "a user"),
        (KEY.format(KEY_ID, HIDDEN, "'admin'"), r"a key 'zz\\x1b"),
        (KEY.format("'key' || char(8)", "'ci'", "'admin'"), "a key 'ci'"),
        (SETTING.format("'suites'", "'deep'", DEEP), "a suite or target 'deep'"),
        (SETTING.format("'suites'", "'bytes'", "x'ff00'"), "a suite or target 'bytes'"),
        (SETTING.format("'targets'", "'list'", "CAST('[]' AS BLOB)"), "a suite or target 'list'"),
        (SETTING.format("'targets'", HIDDEN, "CAST('{}' AS BLOB)"), "a suite or target 'zz"),
        (DEFINITION.format("'judge'", HIDDEN, "'1.0.0'"), "a saved version 'zz"),
        (DEFINITION.format("'other'", "'tone'", "'1.0.0'"), "a saved version 'tone'"),
    ],
)
def test_a_foreign_row_is_named_and_nothing_is_written(
    tmp_path: Path, script: str, named: str
) -> None:
    with pytest.raises(InvalidError, match=named):
        restored(tmp_path, script)

    assert not (tmp_path / "new").exists()


def test_rows_of_the_product_are_restored(tmp_path: Path) -> None:
    script = ";".join(
        (
            USER.format("'ada@example.com'", "'admin'"),
            KEY.format(KEY_ID, "'nightly run'", "'editor'"),
            SETTING.format("'suites'", "'weekly'", "CAST('{}' AS BLOB)"),
            DEFINITION.format("'rubric'", "'agent-quality-v2'", "''"),
        )
    )

    assert (restored(tmp_path, script) / "steelyard.db").is_file()
