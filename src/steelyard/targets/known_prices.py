"""List prices of well-known models at the endpoints of their makers, each with its date.

An endpoint or model that is not listed has no price: another seller may take another one.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import urlsplit

from steelyard.settings import TargetEntry

_PROVIDERS = ("openai", "anthropic")
_PRICED_APART = (
    *("service_tier", "speed", "inference_geo", "cache_control"),
    *("web_search_options", "prompt_cache_retention"),
)
"""Fields of a request with which a call costs something else."""


class ListPrice(NamedTuple):
    """US dollars per million tokens, without discounts and fees."""

    input: float
    output: float
    as_of: str
    """The day on which it was looked up."""


def list_price(target: TargetEntry) -> ListPrice | None:
    """The list price of a target; None unless its endpoint and its model are known exactly."""
    if target.provider not in _PROVIDERS or any(
        name in _PRICED_APART for name in target.object("extra")
    ):
        return None
    try:
        host = urlsplit(target.text("base_url")).hostname
    except ValueError:
        return None
    return _prices().get((host or "", target.text("model")))


@cache
def _prices() -> dict[tuple[str, str], ListPrice]:
    text = (files("steelyard.targets") / "known_prices.json").read_text(encoding="utf-8")
    return {
        (host, model): ListPrice(float(price[0]), float(price[1]), day)
        for host, days in json.loads(text).items()
        for day, models in days.items()
        for model, price in models.items()
    }
