"""Whatever a rubric file holds, reading ends with findings and never with an exception."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.formats.lines import Lines, Located
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonValue
from strategies.effort import examples
from strategies.json_values import VALUES, spoilt

CORPUS = Path(__file__).parents[3] / "corpus" / "check_rubric" / "valid"
WHOLE = parse_yaml((CORPUS / "every_kind.yaml").read_bytes()).value


@settings(max_examples=examples(300))
@given(VALUES | spoilt(WHOLE))
def test_any_value_gives_a_rubric_or_errors(value: JsonValue) -> None:
    """CR-07"""
    rubric, findings = read_check_rubric(Located(value, Lines(1)), Catalog())

    assert (rubric is None) is any(finding.is_error for finding in findings)
    assert all(finding.code in CODES and finding.message for finding in findings)
