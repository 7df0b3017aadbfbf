"""What the columns of a table can fill in a record."""

from __future__ import annotations

from steelyard.contracts.importers.cells import CellColumns, number, text, texts

COLUMNS = CellColumns(
    fields={
        **dict.fromkeys(("record_id", "input.prompt", "reference.answer"), text),
        **dict.fromkeys(("tags", "expected.required_criteria"), texts),
        "expected.max_latency_ms": number,
    },
    short={
        "id": "record_id",
        "input": "input.prompt",
        "prompt": "input.prompt",
        "answer": "reference.answer",
    },
)
