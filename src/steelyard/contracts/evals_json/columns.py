"""What the columns of a table can fill in an eval."""

from __future__ import annotations

from steelyard.contracts.importers.cells import CellColumns, flag, text, texts

COLUMNS = CellColumns(
    fields={
        **dict.fromkeys(("id", "prompt", "expected_output"), text),
        **dict.fromkeys(("expectations", "must_contain_any", "must_not_contain"), texts),
        "check_php_lint": flag,
    }
)
