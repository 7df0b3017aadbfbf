"""Facts of results, as few as a test wants to state."""

from __future__ import annotations

from typing import Any

from steelyard.results.facts import CheckFact, Facts


def facts(index: int, *, passed: bool | None = None, **others: Any) -> Facts:
    """An evaluated result that passed or failed; without either, one that was not evaluated."""
    score = None if passed is None else float(passed)
    known: dict[str, Any] = {
        "index": index,
        "repeat": 0,
        "status": "evaluation_error" if passed is None else "evaluated",
        "attempts": 1,
        "answered": passed is not None,
        "score": score,
        "raw_score": score,
        "passed": passed,
        "latency_ms": None,
        "input_tokens": None,
        "output_tokens": None,
        "cost_usd": None,
        "cluster": None,
        "slices": (),
        "checks": (),
    }
    return Facts(**{**known, **others})


def checked(name: str, *, passed: bool) -> CheckFact:
    return CheckFact(name, "equals", "scored", float(passed), passed)
