"""What a call costs."""

from __future__ import annotations

from msgspec.structs import replace

from steelyard.model.trace import Trace

PriceList = tuple[float, float]
"""US dollars per million input and output tokens."""


def cost_of(trace: Trace, price: PriceList | None) -> float | None:
    """What an answer cost by the price of its target; None where something is not known."""
    usage = trace.usage
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return (usage.input_tokens * price[0] + usage.output_tokens * price[1]) / 1_000_000


def with_cost(trace: Trace, price: PriceList | None) -> Trace:
    """The trace with its cost in it, for checks that look at that; a price wins over a claim."""
    cost = cost_of(trace, price)
    return trace if cost is None else replace(trace, extra={**trace.extra, "cost_usd": cost})
