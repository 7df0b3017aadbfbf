"""`cost`."""

from __future__ import annotations

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.checks.cost import Cost
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace


def costing(cost: JsonValue) -> Trace:
    return Trace(extra={"cost_usd": cost})


@pytest.mark.parametrize(
    ("cost", "passed", "reason"),
    [
        (0.01, True, "cost $0.01, within $0.02"),
        (0.02, True, "cost $0.02, within $0.02"),
        (0.0200001, False, "cost $0.02, over $0.02"),
        (1234.5, False, "cost $1,234.50, over $0.02"),
        (0, True, "cost $0, within $0.02"),
        (0.00001234, True, "cost $1.234e-05, within $0.02"),
    ],
)
def test_it_passes_at_the_limit_and_fails_above(cost: float, passed: bool, reason: str) -> None:
    outcome = Cost(max_usd=0.02).check(costing(cost), Case(id="a"))

    assert (outcome.passed, outcome.score, outcome.reason) == (passed, float(passed), reason)


@pytest.mark.parametrize("extra", [{}, {"cost_usd": None}, {"cost_usd": True}, {"cost_usd": "1"}])
def test_a_cost_that_nobody_knows_is_neither_0_nor_a_pass(extra: JsonObject) -> None:
    outcome = Cost(max_usd=1).check(Trace(extra=extra), Case(id="a"))

    assert (outcome.status, outcome.passed, outcome.score) == ("skipped", None, None)
    assert outcome.reason.startswith("what the response cost is not known")


def test_a_negative_cost_is_none() -> None:
    assert Cost(max_usd=1).check(costing(-1), Case(id="a")).status == "skipped"


def test_the_limit_is_its_only_setting_and_must_be_stated() -> None:
    assert Catalog().fragment("cost") == {
        "required": ["max_usd"],
        "properties": {
            "max_usd": {"type": "number", "description": "US dollars at most.", "minimum": 0}
        },
    }
