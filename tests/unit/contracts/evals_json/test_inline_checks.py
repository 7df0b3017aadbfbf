"""The check rubric that a case's inline checks amount to."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.evals_json.inline_checks import check_rubric_of, rubric_id
from steelyard.engine.grading.grading import grade
from steelyard.formats.lines import Lines, Located
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric
from strategies.evals_files import ENTRIES, entry, evals_file, read_case, read_dataset
from strategies.traces import said


def rubric_of(value: JsonObject) -> Rubric:
    rubric, findings = read_check_rubric(
        Located(check_rubric_of(read_case(value)), Lines(1)), Catalog()
    )
    assert findings == []
    assert rubric
    return rubric


def test_the_rubric_has_a_required_check_for_each_inline_check() -> None:
    """EJ-20"""
    case = read_case(
        entry(
            must_contain_any=["a"],
            must_not_contain=["b"],
            check_php_lint=True,
            check_markdown_structure={"min_headings": 1},
        )
    )

    assert check_rubric_of(case) == {
        "id": "services_1",
        "version": "1.0.0",
        "description": "The inline checks of eval 1 of services.",
        "checks": [
            {
                "id": "must_contain_any",
                "kind": "must_contain_any",
                "phrases": ["a"],
                "required": True,
            },
            {
                "id": "must_not_contain",
                "kind": "must_not_contain",
                "phrases": ["b"],
                "required": True,
            },
            {"id": "php_lint", "kind": "php_lint", "required": True},
            {
                "id": "markdown_structure",
                "kind": "markdown_structure",
                "min_headings": 1,
                "required": True,
            },
        ],
        "scoring": {"combine": "all_pass"},
    }


def test_a_case_without_checks_has_no_rubric() -> None:
    """EJ-20"""
    assert check_rubric_of(read_case(entry())) is None


@pytest.mark.parametrize(
    ("response", "passed"),
    [("Use #CACHE.", True), ("Use #cache and a global.", False), ("Nothing.", False)],
)
def test_a_case_passes_when_all_checks_pass(response: str, passed: bool) -> None:
    """EJ-13, EJ-20: phrases are looked for in any case."""
    value = entry(must_contain_any=["#cache", "Cacheable"], must_not_contain=["Global"])
    verdict = grade(rubric_of(value), said(response), read_case(value))

    assert (verdict.status, verdict.passed) == ("evaluated", passed)


@given(ENTRIES)
def test_the_rubric_of_any_case_can_be_read(value: JsonObject) -> None:
    """EJ-20"""
    if check_rubric_of(read_case(value)) is not None:
        assert {one.required for one in rubric_of(value).checks} == {True}


@pytest.mark.parametrize(
    ("dataset", "name", "made"),
    [
        ("drupal-caching", "1", "drupal_caching_1"),
        ("Drupal  Caching!", "7", "drupal_caching_7"),
        ("drupal", "block", "drupal_block"),
        ("2024", "1", "evals_2024_1"),
        ("", "1", "evals_1"),
        ("a", "b-c", "a_b_c_[0-9a-f]{8}"),
        ("a", "B", "a_b_[0-9a-f]{8}"),
        ("é", "é", "evals_[0-9a-f]{8}"),
    ],
)
def test_the_id_is_made_of_the_skill_and_the_case(dataset: str, name: str, made: str) -> None:
    """EJ-20"""
    assert re.fullmatch(made, rubric_id(Case(id=name, dataset=dataset)))


@given(st.text(max_size=8), st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_different_cases_have_rubrics_of_different_ids(
    dataset: str, first: str, second: str
) -> None:
    """EJ-20"""
    ids = [rubric_id(Case(id=name, dataset=dataset)) for name in (first, second)]

    assert all(re.fullmatch("[a-z][a-z0-9_]*", made) for made in ids)
    assert (ids[0] == ids[1]) is (first == second)


def test_the_rubrics_of_a_file_differ() -> None:
    cases = read_dataset(
        evals_file(*(entry(id=name, check_php_lint=True) for name in (1, "a-b", "a_b", "A_b")))
    ).cases

    assert len({rubric_id(case) for case in cases}) == 4
