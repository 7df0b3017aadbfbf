"""Whether a file is a configuration of promptfoo."""

from __future__ import annotations

from steelyard.model.json_value import JsonValue

_OWN = {"input", "input_messages", "criteria", "expected_output", "expected_outcome"}
"""What only tests of eval cases have."""
_TOP = {"default_test", "evaluate_options", "preprocessors", "workspace", "environment"}
"""What only files of eval cases have beside their tests, as their newest dialect spells it."""


def is_promptfoo(top: dict[str, JsonValue]) -> bool:
    """Whether the keys of a file are those of a configuration, and not of eval cases."""
    tests = top.get("tests")
    listed = tests if isinstance(tests, list) else []
    if _TOP & top.keys():
        return False
    if any(isinstance(test, dict) and _OWN & test.keys() for test in listed):
        return False
    is_asked = "prompts" in top and ("providers" in top or "targets" in top)
    return is_asked or ("redteam" in top and "targets" in top)
