"""Runs of models with a list price: plan, cost, budget and manifest."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from checker import check_run
from fakes.projects import row
from servers.http_proxy import proxying
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, says, serving

Steelyard = Callable[..., subprocess.CompletedProcess[str]]
TARGET = "targets:\n  live: {{provider: openai, base_url: {0}, model: {1}, proxy: '{2}'{3}}}\n"
OPENAI = "http://api.openai.com/v1"
COST = (12 * 0.15 + 3 * 0.6) / 1_000_000


@asynccontextmanager
async def endpoint() -> AsyncGenerator[str]:
    """A proxy that answers for every host: 12 tokens in and 3 out."""
    async with serving(says(COMPLETION)) as url, proxying(urlsplit(url).port or 0) as proxy:
        yield f"127.0.0.1:{proxy.port}"


def write_project(folder: Path, proxy: str, *, model: str = "gpt-4o-mini", more: str = "") -> None:
    """A project that asks the endpoint of OpenAI through a proxy."""
    check = {"type": "contains", "value": "nine"}
    (folder / "d.jsonl").write_text(json.dumps(row("a", evaluators=[check], input="q" * 40)))
    (folder / "steelyard.yaml").write_text(TARGET.format(OPENAI, model, proxy, more))


def test_a_run_names_the_list_price_and_its_date(tmp_path: Path, steelyard: Steelyard) -> None:
    with in_thread(endpoint()) as proxy:
        write_project(tmp_path, proxy)
        words = ("run", "d.jsonl", "--target", "live")
        done = steelyard(*words, "--budget", "1", "--format", "json", cwd=tmp_path)
    found: dict[str, Any] = json.loads(done.stdout)
    check_run(Path(found["artifacts"]))
    manifest = json.loads((Path(found["artifacts"]) / "run_manifest.json").read_text())
    shown = steelyard("show", "latest", cwd=tmp_path)

    assert found["metrics"]["cost_usd"]["total"] == pytest.approx(COST)
    assert manifest["prices"] == [
        {"target": "live", "input": 0.15, "output": 0.6, "source": "list", "as_of": "2025-07-04"}
    ]
    assert "(n = 1), list price of 2025-07-04" in shown.stdout
    assert "has no price" not in done.stderr


OTHERS = {
    "of the project": ({"more": ", price: {input: 1, output: 0}"}, 12 / 1_000_000, "project"),
    "unknown": ({"model": "gpt-4o-mini-mine"}, None, None),
    "priced apart": ({"more": ", extra: {service_tier: flex}"}, None, None),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_price_of_the_project_wins_and_another_model_has_none(
    name: str, tmp_path: Path, steelyard: Steelyard
) -> None:
    settings, cost, source = OTHERS[name]
    with in_thread(endpoint()) as proxy:
        write_project(tmp_path, proxy, **settings)
        words = ("run", "d.jsonl", "--target", "live", "--budget", "1", "--format", "json")
        done = steelyard(*words, cwd=tmp_path)
    found: dict[str, Any] = json.loads(done.stdout)
    manifest = json.loads((Path(found["artifacts"]) / "run_manifest.json").read_text())
    shown = steelyard("show", "latest", cwd=tmp_path)

    assert found["metrics"]["cost_usd"]["total"] == cost
    assert [one["source"] for one in manifest.get("prices", ())] == ([source] if source else [])
    assert "list price" not in shown.stdout
    assert ("live has no price" in done.stderr) is (cost is None)


HALVES = {
    "input": ("{input: 100}", "targets.live.price has no `output`, so that output tokens"),
    "output": ("{output: 100}", "targets.live.price has no `input`, so that input tokens"),
    "both": ("{input: 100, output: 0}", None),
}


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("options", [("--plan",), ("--plan", "--budget", "1")])
def test_half_a_price_is_told(
    name: str, options: tuple[str, ...], tmp_path: Path, steelyard: Steelyard
) -> None:
    price, warning = HALVES[name]
    write_project(tmp_path, "127.0.0.1:1", more=f", price: {price}")
    done = steelyard("run", "d.jsonl", "--target", "live", *options, cwd=tmp_path)

    assert done.returncode == 0
    assert ("price has no" in done.stderr) is (warning is not None)
    assert (warning or "") in done.stderr


def test_a_plan_names_the_date_of_its_prices(tmp_path: Path, steelyard: Steelyard) -> None:
    write_project(tmp_path, "127.0.0.1:1")
    words = ("run", "d.jsonl", "--target", "live", "--plan")
    text = steelyard(*words, cwd=tmp_path)
    plan = json.loads(steelyard(*words, "--format", "json", cwd=tmp_path).stdout)

    assert "  prices   list price of 2025-07-04; `price` of a target" in text.stdout
    assert plan["prices"][0]["as_of"] == "2025-07-04"
    assert plan["cost_usd"] > 0
