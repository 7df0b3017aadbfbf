"""Every default stands in the settings; the published schema and the page say the same."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest

from steelyard.formats.schema_names import resolve
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject
from steelyard.project_file import project_schema
from steelyard.settings import (
    API,
    MAX_CONCURRENCY,
    METHOD,
    TARGET_KEYS,
    TIMEOUT_S,
    JudgeSetting,
    RedactionRules,
    Settings,
    SuiteSettings,
    TargetEntry,
)

PAGE = (Path(__file__).parents[2] / "docs" / "project-file.md").read_text(encoding="utf-8")
SECTIONS = {text.split("`")[0]: text for text in PAGE.split("\n## `")[1:]}
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|", re.MULTILINE)
SCHEMA = project_schema()
RULES = cast(dict[str, JsonObject], SCHEMA["properties"])
OF_PROVIDERS = {
    "max_concurrency": MAX_CONCURRENCY,
    "timeout_s": TIMEOUT_S,
    "method": METHOD,
    "api": API,
}
DEFAULTS: dict[str, Any] = {
    **asdict(Settings()),
    # The field `extra` holds all keys of a provider, of which one is called so.
    "targets": {**asdict(TargetEntry(provider="required")), "extra": None, **OF_PROVIDERS},
    "judges": asdict(JudgeSetting()),
    "suites": asdict(SuiteSettings()),
    "redaction": RedactionRules().plan().json(),
}


def members(key: str) -> dict[str, JsonObject]:
    named = RULES[key].get("additionalProperties") or RULES[key]
    return cast(
        dict[str, JsonObject], resolve(cast(JsonObject, named), SCHEMA).get("properties", {})
    )


def as_json(value: object) -> object:
    return json.loads(json.dumps(value))


SHOWN = {(key, name): cell for key, text in SECTIONS.items() for name, cell in ROW.findall(text)}
ALL = [(key, name) for key in RULES for name in members(key) if name != "provider"]
WHOLE = [key for key in RULES if not members(key) and key != "$schema"]


@pytest.mark.parametrize(("key", "name"), ALL)
def test_the_schema_and_the_page_give_the_default_of_a_setting(key: str, name: str) -> None:
    default = as_json(DEFAULTS[key].get(name))
    shown = SHOWN[key, name].strip("`")

    assert members(key)[name].get("default") == default
    assert (None if shown == "–" else parse_yaml(shown.encode()).value) == default


@pytest.mark.parametrize("key", WHOLE)
def test_the_schema_and_the_page_give_the_default_of_a_setting_without_members(key: str) -> None:
    default = DEFAULTS[key]
    shown = default if isinstance(default, str) else f"[{', '.join(default or ())}]"

    assert RULES[key].get("default") == as_json(default)
    assert not default or f"`{shown}`" in SECTIONS[key]


@pytest.mark.parametrize("key", [key for key in RULES if members(key) and key != "targets"])
def test_every_field_of_a_section_stands_in_the_schema(key: str) -> None:
    assert set(DEFAULTS[key]) == set(members(key))


def test_every_field_of_the_settings_stands_in_the_schema() -> None:
    assert set(DEFAULTS) == set(RULES) - {"$schema"}
    assert set(TARGET_KEYS) < set(members("targets"))
