"""Patterns of a project's own, and fields by name."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.redaction.own_rules import OwnPattern
from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.errors import ConfigError
from steelyard.model.json_value import JsonValue
from steelyard.settings import RedactionRules

RULES = RedactionRules.of(
    {
        "patterns": ["email"],
        "custom": {"order": r"\bORD-[0-9]{4}\b", "whole": "^code [0-9]+$", "word": "größe+"},
        "fields": ["metadata.card", "ward"],
    }
)


def redacted(value: JsonValue) -> JsonValue:
    return json.loads(Redactor.by(RULES, [])(json_bytes(value)))


def test_a_projects_own_patterns_are_found_beside_the_usual() -> None:
    redact = Redactor.by(RULES, ["a-secret-value"])
    row: JsonValue = ["ORD-1234 of joe@example.com", "XORD-1234", "code 7", "code 7 x", "größeee!"]

    assert json.loads(redact(json_bytes(row))) == [
        "[redacted:order] of [redacted:email]",
        "XORD-1234",
        "[redacted:whole]",
        "code 7 x",
        "[redacted:word]!",
    ]
    assert redact.described({"order": 2}).json() == {
        "secrets": 0,
        "patterns": {"email": 1},
        "custom": {"order": 3, "whole": 1, "word": 1},
        "fields": {"metadata.card": 0, "ward": 0},
        "version": "3",
    }


def test_numbers_and_names_of_steelyards_own_stay_what_they_are() -> None:
    rules = RedactionRules(patterns=(), custom=(("digits", "[0-9]+"),))
    row = json_bytes({"index": 12, "said": "room 12"})

    assert json.loads(Redactor.by(rules, [])(row)) == {
        "index": 12,
        "said": "room [redacted:digits]",
    }


def test_fields_are_hidden_whatever_they_hold_and_wherever_they_are() -> None:
    record: JsonValue = {
        "metadata": {"card": {"number": 1}, "ward": ["a"], "kept": 2},
        "card": "kept",
        "rows": [{"ward": 5}, {"ward": None}],
        "slices": {"metadata.card": ["x"]},
    }

    assert redacted(record) == {
        "metadata": {"card": "[redacted:metadata.card]", "ward": "[redacted:ward]", "kept": 2},
        "card": "kept",
        "rows": [{"ward": "[redacted:ward]"}, {"ward": None}],
        "slices": {"metadata.card": "[redacted:metadata.card]"},
    }


def test_what_a_field_of_a_record_holds_is_hidden_in_all_that_is_said() -> None:
    redact = Redactor.by(RULES, [])
    data = json_bytes({"said": 'of "Joe Doe", Joe Doe', "inner": json.dumps({"a": "Joe Doe"})})

    assert json.loads(redact.without(data, [("metadata.card", "Joe Doe")])) == {
        "said": 'of "[redacted:metadata.card]", [redacted:metadata.card]',
        "inner": '{"a": "[redacted:metadata.card]"}',
    }
    assert redact.take_counts() == {"field:metadata.card": 3}
    assert redact.without(data, [("ward", "nobody else")]) is data


def test_rules_come_back_from_a_plan_and_from_one_of_an_earlier_version() -> None:
    assert RedactionRules.planned(RULES.plan()) == RULES
    assert RedactionRules.planned(("email",)) == RedactionRules(patterns=("email",))


@pytest.mark.parametrize(
    ("pattern", "said"), [("(?=a)", "not a pattern RE2 knows"), ("a*", "fits the empty text")]
)
def test_a_pattern_that_is_none_is_told(pattern: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"redaction\.custom\.mine.*{said}"):
        OwnPattern("mine", pattern)


@given(st.text('aéß号\n"\\x', max_size=20), st.sampled_from(["a+", "é", "号[ax]", "[^a]a", "ß."]))
def test_no_look_at_the_whole_text_misses_what_a_string_holds(text: str, pattern: str) -> None:
    own = OwnPattern("mine", pattern)
    spans = list(own.find(text))

    assert all(text[span.start : span.end] for span in spans)
    if spans:
        assert own.may_be_in(json_bytes(["before", text]))


def test_a_pattern_takes_time_in_proportion_to_the_text() -> None:
    started = time.process_time()
    assert sum(1 for _ in OwnPattern("mine", "(a+)+b|é").find("aé" * 100_000)) == 100_000

    assert time.process_time() - started < 5
