"""What the columns of a table can fill in a row."""

from __future__ import annotations

from steelyard.contracts.importers.cells import CellColumns, text, texts
from steelyard.contracts.importers.source_row import choices_of, structured
from steelyard.contracts.legal_eval.contract import LEGAL_EVAL
from steelyard.model.json_value import JsonObject

_GRADED = {"choices": "mcq", "rubric": "rubric_qa", "reference_answers": "reference_qa"}


def _completed(row: JsonObject, dataset: str) -> JsonObject:
    task_type = next((kind for field, kind in _GRADED.items() if field in row), None)
    given: JsonObject = {
        "schema_version": LEGAL_EVAL.schema_version,
        "id": row["id"],
        "dataset": dataset,
    }
    return {**given, **({"task_type": task_type} if task_type else {}), **row}


COLUMNS = CellColumns(
    fields={
        **dict.fromkeys(("id", "dataset", "task_type", "prompt", "context"), text),
        **dict.fromkeys(("messages", "attachments", "rubric"), structured),
        **dict.fromkeys(("reference_answers", "correct_choice_ids"), texts),
        "choices": choices_of,
    },
    holds_choices=True,
    complete=_completed,
)
