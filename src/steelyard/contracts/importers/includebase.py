"""INCLUDE-base: regional knowledge in many languages, multiple choice."""

from __future__ import annotations

from steelyard.contracts.importers.source_row import (
    Columns,
    content_id,
    legal_row,
    mcq,
    texts,
    whole,
    wrong,
)
from steelyard.model.json_value import JsonObject, JsonValue

POLICY = "includebase_default_v1"
_LETTERS = "abcd"


def import_includebase(record: JsonObject) -> list[JsonObject]:
    """One question. Rows have no id, so it is made of language, question and options."""
    columns = Columns(record)
    question = columns.text("question")
    options, answer = _options(columns), columns.take("answer")
    index = _index(answer)
    name = content_id("includebase", record.get("language"), question, list(options))
    row = legal_row(name, "includebase", "mcq", question)
    row.update(mcq(options, index))
    row["metadata"] = {**columns.rest(), "answer_index": index, "policy_id": POLICY}
    return [row]


def _options(columns: Columns) -> list[str]:
    """The options: today in a column each, in the first upload in one list."""
    listed = columns.take("choices")
    if listed is not None:
        return texts(listed, "choices")
    return [columns.text(f"option_{letter}") for letter in _LETTERS]


def _index(answer: JsonValue) -> int:
    index = whole(answer)
    if index is None and isinstance(answer, str) and answer.strip().lower() in set(_LETTERS):
        index = _LETTERS.index(answer.strip().lower())
    if index is None:
        raise wrong(f"column 'answer' must hold the number of an option, not {answer!r}")
    return index
