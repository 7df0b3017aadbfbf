"""Where the prices of a run are from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType

from steelyard.results.manifest import UsedPrice


def list_price_text(prices: Sequence[UsedPrice] | UnsetType) -> str:
    """The dates of list prices; empty where the project sets every price."""
    known = () if isinstance(prices, UnsetType) else prices
    dated = (one.as_of for one in known if not isinstance(one.as_of, UnsetType))
    dates = ", ".join(sorted(set(dated)))
    return f"list price of {dates}" if dates else ""
