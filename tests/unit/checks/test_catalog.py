"""The kinds of checks by name, built in and plugged in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

import pytest

from steelyard.checks.catalog import BUILT_IN, Catalog
from steelyard.checks.equals import Equals
from steelyard.checks.json_schema import JsonSchema
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.tool_usage import ExpectedTool, ToolUsage
from steelyard.errors import NotFoundError, RequestError, SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Check
from steelyard.model.trace import Trace
from strategies.traces import said

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
TEXTS = {"type": "array", "minItems": 1, "items": TEXT}
PATTERN = {"type": "string", "description": "An RE2 pattern.", "minLength": 1}
PHRASES: dict[str, object] = {
    **TEXTS,
    "items": {"type": "string", "description": "A phrase; not empty.", "minLength": 1},
}
SOUGHT: dict[str, object] = {
    **TEXTS,
    "items": {"type": "string", "description": "A text; not empty.", "minLength": 1},
}
FACTS: dict[str, object] = {
    **TEXTS,
    "items": {"type": "string", "description": "A fact; not blank.", "pattern": r"\S"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """Pass when the response has so many words: what somebody else might plug in."""

    kind: ClassVar[str] = "word_count"

    at_least: int
    counted: Literal["all", "different"] = "all"
    ignored: tuple[str, ...] = field(default_factory=tuple)

    def check(self, trace: Trace, case: Case) -> Outcome:
        words = [word for word in trace.response.split() if word not in self.ignored]
        found = len(set(words) if self.counted == "different" else words)
        told = f"{case.id}: {found} word(s)"
        return Outcome.passing(told) if found >= self.at_least else Outcome.failing(told)


@dataclass(frozen=True)
class Undefined:
    """A check of which the test only needs the setting's type."""

    def check(self, trace: Trace, case: Case) -> Outcome:
        raise NotImplementedError


@dataclass(frozen=True)
class WithMapping(Undefined):
    kind: ClassVar[str] = "with_mapping"

    setting: dict[str, str]


@dataclass(frozen=True)
class WithChoice(Undefined):
    kind: ClassVar[str] = "with_choice"

    setting: int | float


@dataclass(frozen=True)
class WithPairs(Undefined):
    kind: ClassVar[str] = "with_pairs"

    setting: tuple[tuple[str, ...], ...]


@pytest.mark.parametrize(
    ("kind", "required", "properties"),
    [
        ("equals", [], {"value": TEXT, "ignore_case": FLAG, "strip": FLAG}),
        ("latency", [], {"max_ms": NUMBER}),
        ("must_contain_any", [], {"phrases": PHRASES, "ignore_case": FLAG}),
        ("must_not_contain", ["phrases"], {"phrases": PHRASES, "ignore_case": FLAG}),
        ("regex", ["pattern"], {"pattern": PATTERN, "match": {"enum": ["search", "full"]}}),
    ],
)
def test_the_settings_of_a_kind_are_the_fields_of_its_class(
    kind: str, required: list[str], properties: JsonObject
) -> None:
    assert Catalog().fragment(kind) == {"required": required, "properties": properties}


def described(rule: JsonObject) -> JsonObject:
    """A rule without its words, which must be there."""
    assert rule.pop("description")
    return rule


@pytest.mark.parametrize(
    ("kind", "required", "properties"),
    [
        (
            "json_schema",
            ["schema"],
            {"schema": {"type": "object"}, "anywhere": {"type": "boolean"}},
        ),
        (
            "format",
            [],
            {"format": {"enum": ["json", "text"]}, "max_chars": {**COUNT, "minimum": 1}},
        ),
        ("fact_match", [], {"facts": FACTS, "threshold": {**NUMBER, "minimum": 0, "maximum": 1}}),
        (
            "markdown_structure",
            [],
            {
                "min_headings": COUNT,
                "max_heading_level": {"type": "integer", "minimum": 1, "maximum": 6},
                "no_h1": FLAG,
                "required_sections": SOUGHT,
                "forbidden_patterns": SOUGHT,
                "min_code_blocks": COUNT,
                "min_paragraphs": COUNT,
            },
        ),
    ],
)
def test_settings_that_explain_themselves_have_limits_too(
    kind: str, required: list[str], properties: JsonObject
) -> None:
    fragment = Catalog().fragment(kind)
    rules = cast(dict[str, JsonObject], fragment["properties"])

    assert {name: described(rule) for name, rule in rules.items()} == properties
    assert fragment["required"] == required


def test_a_setting_may_be_a_name_or_an_object_with_parts() -> None:
    rules = cast(Any, Catalog().fragment("tool_usage")["properties"])
    tool = rules["expected_tools"]["items"]

    assert tool["type"] == ["string", "object"]
    assert tool["required"] == ["name"]
    assert {name: rule["type"] for name, rule in tool["properties"].items()} == {
        "name": "string",
        "args": "object",
    }
    assert all(rule["title"] and rule["description"] for rule in tool["properties"].values())


def test_an_object_with_parts_is_made_into_its_class() -> None:
    settings: JsonObject = {
        "expected_tools": ["search", {"name": "open", "args": {"page": 1}, "note": "ours"}],
        "order": "exact",
    }

    assert Catalog().make("tool_usage", settings) == ToolUsage(
        expected_tools=("search", ExpectedTool(name="open", args={"page": 1})), order="exact"
    )


def test_an_object_of_json_is_left_as_it_is() -> None:
    schema: JsonObject = {"enum": [[1], {"a": [2]}]}

    assert Catalog().make("json_schema", {"schema": schema}) == JsonSchema(schema=schema)


def test_a_check_is_made_from_its_settings() -> None:
    made = Catalog().make("must_contain_any", {"phrases": ["a", "b"], "ignore_case": False})

    assert made == MustContainAny(phrases=("a", "b"), ignore_case=False)


def test_settings_that_are_left_out_have_their_defaults() -> None:
    assert Catalog().make("equals", {}) == Equals()


def test_a_wrong_setting_is_a_setting_error() -> None:
    with pytest.raises(SettingError):
        Catalog().make("regex", {"pattern": "("})


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NotFoundError) as caught:
        Catalog((Equals, WordCount)).make("equal", {})

    assert str(caught.value) == "unknown check kind 'equal'; known kinds: equals, word_count"


def test_two_kinds_of_one_name_are_refused() -> None:
    with pytest.raises(RequestError, match="two kinds of check are called 'equals'"):
        Catalog((*BUILT_IN, Equals))


def test_a_plugged_in_kind_is_made_and_used_like_any_other() -> None:
    """CR-12"""
    catalog = Catalog((*BUILT_IN, WordCount))
    check = catalog.make("word_count", {"at_least": 2, "ignored": ["the"]})

    assert "word_count" in catalog.kinds
    assert check.check(said("the big apple"), Case(id="a")).reason == "a: 2 word(s)"


def test_a_setting_with_a_default_of_any_sort_is_optional() -> None:
    assert Catalog((WordCount,)).fragment("word_count") == {
        "required": ["at_least"],
        "properties": {
            "at_least": {"type": "integer"},
            "counted": {"enum": ["all", "different"]},
            "ignored": TEXTS,
        },
    }


def test_lists_within_lists_are_frozen_too() -> None:
    catalog = Catalog((WithPairs,))

    assert catalog.fragment("with_pairs")["properties"] == {
        "setting": {"type": "array", "minItems": 1, "items": TEXTS}
    }
    assert catalog.make("with_pairs", {"setting": [["a"], ["b", "c"]]}) == WithPairs(
        (("a",), ("b", "c"))
    )


@pytest.mark.parametrize("made", [WithMapping, WithChoice])
def test_a_setting_that_no_rubric_can_state_is_refused(made: type[Check]) -> None:
    with pytest.raises(RequestError, match="a check's setting cannot be of type"):
        Catalog((made,)).fragment(made.kind)
