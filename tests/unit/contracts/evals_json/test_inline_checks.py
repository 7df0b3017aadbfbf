"""The inline checks of an eval, as they grade it."""

from __future__ import annotations

import pytest
from hypothesis import given

from fakes.graders import NamedJudges
from steelyard.engine.grading.grading import grade
from steelyard.engine.grading.implicit import implicit_rubric
from steelyard.engine.grading.not_judged import without_judges
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric
from strategies.evals_files import ENTRIES, entry, read_case
from strategies.traces import said


def rubric_of(value: JsonObject) -> Rubric | None:
    """What grades a case where no judge can be asked."""
    rubric = implicit_rubric(read_case(value), NamedJudges())
    graded = without_judges(rubric) if isinstance(rubric, Rubric) else rubric
    return graded if isinstance(graded, Rubric) else None


def test_every_inline_check_is_a_required_check() -> None:
    """EJ-20"""
    rubric = rubric_of(
        entry(
            must_contain_any=["a"],
            must_not_contain=["b"],
            check_php_lint=True,
            check_markdown_structure={"min_headings": 1},
        )
    )

    assert rubric
    assert [(one.id, one.required) for one in rubric.checks] == [
        ("must_contain_any", True),
        ("must_not_contain", True),
        ("php_lint", True),
        ("markdown_structure", True),
    ]


def test_a_case_without_checks_is_graded_by_nothing() -> None:
    """EJ-20"""
    assert rubric_of(entry()) is None


@pytest.mark.parametrize(
    ("response", "passed"),
    [("Use #CACHE.", True), ("Use #cache and a global.", False), ("Nothing.", False)],
)
def test_a_case_passes_when_all_checks_pass(response: str, passed: bool) -> None:
    """EJ-13, EJ-20: phrases are looked for in any case."""
    value = entry(must_contain_any=["#cache", "Cacheable"], must_not_contain=["Global"])
    rubric = rubric_of(value)

    assert rubric
    verdict = grade(rubric, said(response), read_case(value))
    assert (verdict.status, verdict.passed) == ("evaluated", passed)


@given(ENTRIES)
def test_the_checks_of_any_case_are_required(value: JsonObject) -> None:
    """EJ-20"""
    inline = {"must_contain_any", "must_not_contain", "php_lint", "markdown_structure"}
    rubric = rubric_of(value)

    checks = [one for one in rubric.checks if one.check.kind in inline] if rubric else []
    assert all(one.required for one in checks)
