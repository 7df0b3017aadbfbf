"""What a call costs."""

from __future__ import annotations

import pytest

from steelyard.engine.costs import cost_of, with_cost
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace, Usage

COUNTED = Usage(input_tokens=1_000_000, output_tokens=500_000)


@pytest.mark.parametrize(
    ("usage", "price", "cost"),
    [
        (COUNTED, (2.0, 8.0), 6.0),
        (COUNTED, (0.0, 0.0), 0.0),
        (COUNTED, None, None),
        (Usage(input_tokens=1), (2.0, 8.0), None),
        (Usage(output_tokens=1), (2.0, 8.0), None),
        (Usage(), (2.0, 8.0), None),
    ],
)
def test_a_call_costs_its_tokens_by_their_price(
    usage: Usage, price: tuple[float, float] | None, cost: float | None
) -> None:
    trace = Trace(usage=usage)

    assert cost_of(trace, price) == cost
    assert with_cost(trace, price).cost_usd == cost


@pytest.mark.parametrize(
    ("price", "extra"), [((2.0, 8.0), {"cost_usd": 6.0}), (None, {"cost_usd": 99})]
)
def test_a_price_wins_over_what_the_target_claims(
    price: tuple[float, float] | None, extra: JsonObject
) -> None:
    trace = Trace(usage=COUNTED, extra={"cost_usd": 99, "region": "eu"})

    assert with_cost(trace, price).extra == {"region": "eu", **extra}
