"""Results are kept by all that they depend on, and the oldest make room."""

from __future__ import annotations

from steelyard.usecases.results.kept_results import KeptResults


def test_a_result_is_computed_once_until_others_push_it_out() -> None:
    made: list[str] = []
    results = KeptResults(most=2)

    def find(key: str) -> str:
        return results.find(key, lambda: made.append(key) or f"result {key}")

    found = [find(key) for key in ("a", "b", "a", "c", "a", "b")]
    assert found == [f"result {key}" for key in "abacab"]
    assert made == ["a", "b", "c", "b"]
