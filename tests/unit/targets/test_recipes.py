"""Every recipe of docs/endpoints.md is one that the project file takes, and makes a target."""

from __future__ import annotations

import asyncio
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.asking import answer
from servers.in_thread import in_thread
from servers.openai_server import serving
from servers.services import KEY, SERVICES
from steelyard.errors import TargetError
from steelyard.model.trace import Trace
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


def asked(text: str, name: str, url: str, **more: object) -> Trace:
    """What a recipe's target says, asked at another address."""
    here = url.removesuffix("/v1")
    entry = parse_settings(re.sub(r"https?://[^/\"]+", here, text).encode()).targets[name]
    base = {"base_url": here} if entry.provider == "anthropic" else {}
    entry = replace(entry, extra={**entry.extra, **base, **more})
    names = re.findall(r"\b[A-Z_]+(?:KEY|BEDROCK)\b", text)
    maker = TargetMaker(ROOT, {name: entry}, dict.fromkeys(names, KEY), SystemClock())
    return answer(maker.make(name).target)


@pytest.mark.parametrize("name", SERVICES)
def test_a_stand_in_for_the_service_takes_its_recipe(name: str) -> None:
    text = next(text for _, text in RECIPES if re.search(rf"^  {name}:", text, re.MULTILINE))
    service = SERVICES[name]
    with in_thread(serving(service.answer)) as url:
        plain, streamed = (asked(text, name, url, **more) for more in ({}, {"stream": True}))
        with pytest.raises(TargetError) as caught:
            asked(text, name, url, model="another")

    assert (plain.response, plain.model) == ("At nine.", service.model)
    assert plain.usage.output_tokens == 3
    assert streamed.first_token_ms is not None
    for trace in (plain, streamed):
        timeless = replace(trace, latency_ms=None, first_token_ms=None)
        assert timeless == replace(plain, latency_ms=None)
    said = "litellm.BadRequestError: no model another" if name == "litellm" else "no model another"
    assert (caught.value.code, str(caught.value)) == ("not_found", f"HTTP 404: {said}")


def test_every_recipe_says_whether_it_was_tried() -> None:
    assert [name for name, _, _ in LISTED] == [name for name, _ in RECIPES][: len(LISTED)]
    assert len(LISTED) == 10
