"""A rubric's own name, and the checks that it only states."""

from __future__ import annotations

from steelyard.checks.equals import Equals
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck
from steelyard.model.trace import Trace


def test_a_rubric_is_named_by_its_pinned_reference() -> None:
    rubric = Rubric(id="basic", version="1.2.0", checks=())

    assert Reference.parse(rubric.name) == Reference(kind="rubric", id="basic", version="1.2.0")


def test_a_stated_check_cannot_be_carried_out_on_its_own() -> None:
    stated = StatedCheck(kind="llm_judge", settings={"judge_prompt_ref": "judge/a@1.0"})
    outcome = stated.check(Trace(), Case(id="a"))

    assert outcome == Outcome.unscored("nothing here carries out llm_judge")


def test_a_rubric_lists_what_is_only_stated() -> None:
    stated = StatedCheck(kind="cost", settings={"max_usd": 1})
    checks = (RubricCheck(id="a", check=Equals()), RubricCheck(id="b", check=stated))

    assert Rubric(id="basic", version="1.2.0", checks=checks).stated == {"b": stated}
