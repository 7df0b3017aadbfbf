"""Whatever a judge file holds, reading ends with findings and never with an exception."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings

from steelyard.contracts.judge.reader import read_judge
from steelyard.formats.lines import Lines, Located
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonValue
from strategies.effort import examples
from strategies.json_values import VALUES, spoilt

WHOLE = Path(__file__).parents[3] / "corpus" / "judge" / "valid" / "every_field.yaml"


@settings(max_examples=examples(300))
@given(VALUES | spoilt(parse_yaml(WHOLE.read_bytes()).value))
def test_any_value_gives_a_judge_or_errors(value: JsonValue) -> None:
    """JD-07"""
    judge, findings = read_judge(Located(value, Lines(1)))

    assert (judge is None) is any(finding.is_error for finding in findings)
    assert all(finding.code in CODES and finding.message for finding in findings)
