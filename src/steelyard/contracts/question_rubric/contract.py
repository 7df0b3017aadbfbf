"""Contract 3 as the catalog knows it."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

QUESTION_RUBRIC = Contract(
    name="question_rubric",
    described="question rubrics (.json or .yaml with 'questions')",
    kind="rubric",
    package="steelyard.contracts.question_rubric",
    keys=("questions", "dimensions"),
    item_keys={"questions": "key"},
)
