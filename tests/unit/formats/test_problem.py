from __future__ import annotations

from steelyard.formats.problem import Problem, path_order, under
from steelyard.model.json_value import Path


def problem(path: Path) -> Problem:
    return Problem(code="invalid_field_type", message="{} must be a string", path=path)


def test_problems_are_sorted_by_path_with_indices_as_numbers() -> None:
    paths: list[Path] = [("b", 10), ("b", 2), ("a",), (), ("b",), ("b", 2, "x")]

    ordered = [item.path for item in sorted(map(problem, paths), key=path_order)]

    assert ordered == [(), ("a",), ("b",), ("b", 2), ("b", 2, "x"), ("b", 10)]


def test_names_and_indices_at_one_place_can_be_compared() -> None:
    paths: list[Path] = [("a", 0), ("a", "name")]

    ordered = [item.path for item in sorted(map(problem, paths), key=path_order)]

    assert ordered == [("a", "name"), ("a", 0)]


def test_a_problem_seen_from_further_out_has_a_longer_path() -> None:
    seen = under(("records", 1), problem(("input",)))

    assert seen == problem(("records", 1, "input"))


def test_a_problem_is_an_error_without_a_hint_unless_it_says_so() -> None:
    assert (problem(()).severity, problem(()).hint) == ("error", None)
