"""What the columns of a table can fill in a question."""

from __future__ import annotations

from steelyard.contracts.importers.cells import CellColumns, text, texts, words

COLUMNS = CellColumns(
    fields={
        **dict.fromkeys(("id", "input", "rubric_ref", "bundle"), text),
        **dict.fromkeys(("criteria", "expected"), words),
        **dict.fromkeys(("expected_facts", "expected_tools"), texts),
    }
)
