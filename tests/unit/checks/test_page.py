"""The page about checks: it has every kind with all of its settings, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.formats.yaml_text import parse_yaml

PAGE = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
KINDS = Catalog().kinds


def test_the_page_has_a_section_for_each_kind_in_the_order_of_the_alphabet() -> None:
    assert tuple(SECTIONS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_lists_the_settings_of_its_kind(kind: str) -> None:
    listed = re.findall(r"^\| `(\w+)` \|(?!.*\|.*\|)", SECTIONS[kind], re.MULTILINE)

    assert listed == list(cast(Any, Catalog().fragment(kind)["properties"]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_section_is_a_check_of_its_kind(kind: str) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", SECTIONS[kind], re.MULTILINE | re.DOTALL)
    settings = cast(Any, parse_yaml(example.encode()).value)

    assert settings.pop("kind") == kind
    assert set(settings) <= set(cast(Any, Catalog().fragment(kind)["properties"]))
    assert Catalog().make(kind, settings).kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_overview_leads_to_each_section(kind: str) -> None:
    assert f"[`{kind}`](#{kind})" in PAGE
