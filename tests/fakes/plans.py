"""Plans of runs, with what a test does not care about filled in."""

from __future__ import annotations

import json
from typing import Any

from steelyard.model.json_value import JsonObject
from steelyard.results.plan import Plan, read_plan


def plan_row(**changes: Any) -> JsonObject:
    """The least that a plan has, as the first version wrote it; options change one by one."""
    options = {"dataset": "d.json", "responses": None, **changes.pop("options", {})}
    known: JsonObject = {
        "options": options,
        "contract": "eval_cases",
        "source": {"d.json": "ab" * 32},
        "shown": "cd" * 32,
        "responses": None,
        "rubric": None,
        "models": {"live": {"model": None}},
        "targets": {"live": {"provider": "echo"}},
    }
    return {**known, **changes}


def plan(**changes: Any) -> Plan:
    """The same, as it is read."""
    found = read_plan(json.dumps(plan_row(**changes)).encode())
    assert found
    return found
