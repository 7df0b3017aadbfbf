"""What the columns of a table can fill in an eval case."""

from __future__ import annotations

from steelyard.contracts.importers.cells import CellColumns, answer, asked, text, texts
from steelyard.contracts.importers.source_row import structured

COLUMNS = CellColumns(
    fields={
        **dict.fromkeys(("id", "expected_outcome", "conversation_id"), text),
        "input": asked,
        "expected_output": answer,
        **dict.fromkeys(("input_messages", "expected_messages", "evaluators"), structured),
        **dict.fromkeys(("tags", "rubrics"), texts),
    },
    short={"expected": "expected_output"},
)
