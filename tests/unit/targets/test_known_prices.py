"""Which targets have a list price: a known model at the endpoint of its maker."""

from __future__ import annotations

import json
from datetime import date
from importlib.resources import files
from typing import Any

import pytest

from steelyard.settings import TargetEntry
from steelyard.targets.known_prices import ListPrice, list_price

OPENAI = {"provider": "openai", "base_url": "https://api.openai.com/v1", "model": "gpt-4.1"}
CLAUDE = {
    "provider": "anthropic",
    "base_url": "https://api.anthropic.com",
    "model": "claude-haiku-4-5",
}
GEMINI = {
    "provider": "openai",
    "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
    "model": "gemini-2.5-flash",
}


@pytest.mark.parametrize(
    ("row", "price"),
    [
        (OPENAI, ListPrice(2, 8, "2025-07-04")),
        (CLAUDE, ListPrice(1, 5, "2026-07-29")),
        (GEMINI, ListPrice(0.3, 2.5, "2025-10-31")),
        ({**OPENAI, "extra": {"reasoning_effort": "low"}}, ListPrice(2, 8, "2025-07-04")),
        ({**OPENAI, "extra": {"service_tier": "priority"}}, None),
        ({**OPENAI, "model": "gpt-4.1-2025-04-14"}, None),
        ({**OPENAI, "model": "GPT-4.1"}, None),
        ({**OPENAI, "base_url": "http://127.0.0.1:4000/v1"}, None),
        ({**OPENAI, "base_url": "https://mine.openai.azure.com/openai/v1"}, None),
        ({**OPENAI, "base_url": "https://api.openai.com.example.com/v1"}, None),
        ({**OPENAI, "base_url": "https://[api.openai.com/v1"}, None),
        ({**CLAUDE, "base_url": "https://api.openai.com/v1"}, None),
        ({"provider": "command", "command": ["agent"], "model": "gpt-4.1"}, None),
    ],
)
def test_only_a_known_model_at_the_endpoint_of_its_maker_has_a_list_price(
    row: dict[str, Any], price: ListPrice | None
) -> None:
    assert list_price(TargetEntry.of(row)) == price


def test_every_price_has_a_date_and_every_model_one_price() -> None:
    text = (files("steelyard.targets") / "known_prices.json").read_text(encoding="utf-8")
    for days in json.loads(text).values():
        models = [model for listed in days.values() for model in listed]

        assert len(models) == len(set(models))
        for day, listed in days.items():
            assert date.fromisoformat(day)
            assert all(0 < price[0] < price[1] for price in listed.values())
