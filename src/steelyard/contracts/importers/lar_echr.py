"""LAR-ECHR: which argument comes next in a judgment of the Strasbourg court."""

from __future__ import annotations

from steelyard.contracts.importers.source_row import Columns, legal_row, mcq, wrong
from steelyard.model.json_value import JsonObject, JsonValue

POLICY = "lar_echr_mcq_v1"
# The rows have no question of their own: the task is the same for all of them.
QUESTION = "Which of these statements is the next argument in the Court's reasoning?"
_LETTERS = "ABCD"


def import_lar_echr(record: JsonObject) -> list[JsonObject]:
    """One paragraph: facts and the arguments before it are the context."""
    columns = Columns(record)
    case = columns.label("case_id")
    facts, before = columns.text("facts"), columns.take("context")
    options = [columns.text(letter) for letter in _LETTERS]
    label = columns.text("label").strip().upper()
    if label not in set(_LETTERS):
        raise wrong(f"column 'label' must hold A, B, C or D, not {label!r}")
    row = legal_row(f"lar_echr:{case}", "lar_echr", "mcq", QUESTION)
    row["context"] = "\n\n".join([f"Facts:\n{facts}", *_arguments(before)])
    row.update(mcq(options, _LETTERS.index(label)))
    row["metadata"] = {**columns.rest(), "source_id": case, "policy_id": POLICY}
    return [row]


def _arguments(before: JsonValue) -> list[str]:
    arguments = "\n".join(str(part) for part in before) if isinstance(before, list) else before
    if not isinstance(arguments, str) or not arguments.strip():
        return []
    return [f"The arguments so far:\n{arguments}"]
