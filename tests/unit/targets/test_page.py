"""The page about targets says what the code does: providers, settings, variables, placeholders."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.engine.prompt_template import VARIABLES as PROMPT_VARIABLES
from steelyard.project_file import parse_settings
from steelyard.settings import TARGET_KEYS
from steelyard.targets.http_json import VARIABLES
from steelyard.targets.making import KEYS
from steelyard.targets.processes.command_settings import PLACEHOLDERS

PAGE = Path(__file__).parents[3].joinpath("docs", "targets.md").read_text(encoding="utf-8")
PARTS = re.split(r"^## `(\w+)`$", PAGE, flags=re.MULTILINE)
SECTIONS = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))
EXAMPLES = re.findall(r"^```yaml\n(.+?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def first_column(text: str, heading: str) -> set[str]:
    """The names in the first column of the table with a heading."""
    found = re.search(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, flags=re.MULTILINE)
    assert found
    return {
        name
        for row in found[1].splitlines()
        for name in re.findall("`([^`]+)`", row.split("|")[1])
    }


def test_every_provider_has_its_section() -> None:
    assert set(SECTIONS) == set(KEYS)


@pytest.mark.parametrize("provider", [name for name in KEYS if KEYS[name]])
def test_a_section_has_every_setting_of_its_provider(provider: str) -> None:
    assert first_column(SECTIONS[provider], "setting") == set(KEYS[provider])


def test_the_settings_of_every_target_come_first() -> None:
    assert first_column(PARTS[0], "setting") == set(TARGET_KEYS) - {"provider"}


def test_the_page_names_every_variable_of_a_prompt() -> None:
    named = {name.strip("{} ").partition(".")[0] for name in first_column(PARTS[0], "name")}

    assert named == set(PROMPT_VARIABLES)


def test_the_page_names_every_variable_and_every_placeholder() -> None:
    variables = {name.strip("{} ") for name in first_column(SECTIONS["http"], "variable")}
    placeholders = first_column(SECTIONS["command"], "placeholder")

    assert variables == set(VARIABLES)
    assert placeholders == {f"{{{name}}}" for name in PLACEHOLDERS}
    assert all(f"`{field}`" in SECTIONS["http"] for field in VARIABLES["case"])


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_project_files(example: str) -> None:
    settings = parse_settings(example.encode("utf-8"))

    assert settings.targets
    for entry in settings.targets.values():
        assert set(entry.extra) <= set(KEYS[entry.provider])
