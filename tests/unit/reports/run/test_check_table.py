"""The checks of a rubric as rows."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.reports.run.check_table import check_table


def test_judges_of_a_jury_are_named_once() -> None:
    jury: JsonObject = {
        "aggregation": "unanimous",
        "judges": [{"judge_prompt_ref": "judge/a@1.0"}],
    }
    check: JsonObject = {
        "id": "panel",
        "kind": "llm_judge",
        "jury": jury,
        "judge_prompt_ref": "judge/b@1.0",
    }
    rubric: JsonObject = {"checks": [check]}

    (row,) = check_table(rubric).rows

    assert row.judges == ("a@1.0", "b@1.0")
    assert row.settings == {"aggregation": "unanimous"}
