"""Every recipe of docs/endpoints.md is one that the project file takes, and makes a target."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from steelyard.project_file import parse_settings
from steelyard.store.clock import SystemClock
from steelyard.targets.making import TargetMaker

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "endpoints.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"^## ([^\n]+)\n\n```yaml\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
LISTED = re.findall(r"^\| \[([^]]+)\]\(#[^)]+\) \| `(\w+)` \| (tried|untried)", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("name", "text"), RECIPES, ids=[name for name, _ in RECIPES])
def test_a_recipe_makes_its_targets(tmp_path: Path, name: str, text: str) -> None:
    settings = parse_settings(text.encode())
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    own = ROOT / "tests" / "servers" / "tls" / "certificate.pem"
    shutil.copyfile(own, certificates / "company.pem")
    names = re.findall(r"\b[A-Z_]+(?:KEY|BEDROCK)\b", text)
    environ = dict.fromkeys(names, "canary-1234567890")
    maker = TargetMaker(tmp_path, settings.targets, environ, SystemClock())
    for target in settings.targets:
        made = maker.make(target).target
        assert "canary" not in str(made.described())
        asyncio.run(made.close())

    providers = {entry.provider for entry in settings.targets.values()}
    assert {provider for listed, provider, _ in LISTED if listed == name} in (providers, set())


def test_every_recipe_says_whether_it_was_tried() -> None:
    assert [name for name, _, _ in LISTED] == [name for name, _ in RECIPES][: len(LISTED)]
    assert len(LISTED) == 10
