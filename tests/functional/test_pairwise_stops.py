"""`compare --pairwise` with a judge behind a real endpoint: stopped, resumed, paid for, cached."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from checker import Trial, check_run, stored_judgements
from fakes.many_commands import run_many
from fakes.pairwise_project import JSON, run, said, write_pairwise
from fakes.warm_command import WarmCommand
from servers.judge_server import JUDGE_MODEL, JudgeEndpoint

pytestmark = pytest.mark.no_cover

RECORDS = 30
AT_ONCE = 4
NAMES = ("one", "two", "three")
JUDGE = """\
  judge: {{provider: openai, base_url: '{0}', model: j, max_concurrency: {1}, price: {2}}}
judges: {{default: {{target: judge}}}}
retry: {{backoff_s: [0.01]}}
"""


@pytest.fixture
def endpoint() -> Iterator[JudgeEndpoint]:
    """A judge that prefers whatever is shown first."""
    with JudgeEndpoint(is_held=False, said=said("a")).serving() as made:
        yield made


@pytest.fixture(scope="module")
def command() -> Generator[WarmCommand]:
    """The command, which starts at once."""
    with closing(WarmCommand(is_measured=False)) as made:
        yield made


@pytest.fixture
def project(endpoint: JudgeEndpoint, tmp_path: Path) -> tuple[Path, list[str]]:
    """A project with three finished runs, and their ids."""
    root = write_pairwise(tmp_path / "p", RECORDS, [], targets=NAMES)
    settings = (root / "steelyard.yaml").read_text("utf-8").partition("  judge:")[0]
    judge = JUDGE.format(endpoint.url, AT_ONCE, "{input: 1000, output: 1000}")
    (root / "steelyard.yaml").write_text(settings + judge, "utf-8")
    done = run_many(root, [run(name) for name in NAMES])
    return root, [json.loads(one.stdout)["run_id"] for one in done]


def compare(runs: list[str], *words: str) -> tuple[str, ...]:
    return ("compare", *runs, "--pairwise", "judge/pairwise@1.0.0", *words, *JSON)


def newest(root: Path) -> Path:
    with closing(sqlite3.connect(f"file:{root}/.steelyard/steelyard.db?mode=ro", uri=True)) as db:
        (found,) = db.execute("SELECT max(run_id) FROM runs").fetchone()
    return root / ".steelyard" / "runs" / found


def killed_after(command: WarmCommand, endpoint: JudgeEndpoint, calls: int) -> None:
    """Kill a command when its judge was asked so often."""
    wanted = endpoint.calls[JUDGE_MODEL] + calls
    deadline = time.monotonic() + 30
    while endpoint.calls[JUDGE_MODEL] < wanted:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert command.kill().code == -signal.SIGKILL


def metrics(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "metrics_summary.json").read_bytes())


def test_a_killed_comparison_is_resumed_and_asks_nothing_twice(
    command: WarmCommand, endpoint: JudgeEndpoint, project: tuple[Path, list[str]]
) -> None:
    root, runs = project
    kept: dict[Any, bytes] = {}
    command.start(root, *compare(runs[:2]))
    for calls in (15, 15):
        killed_after(command, endpoint, calls)
        kept.update(stored_judgements(newest(root)))
        command.start(root, "resume", newest(root).name)
    assert command.wait().code == 0
    shown, verified = run_many(root, [("show", "latest", *JSON), ("verify", "latest")])
    (got,) = json.loads(shown.stdout)["pairwise"]["comparisons"]

    assert len(kept) >= 10
    assert (got["contradictions"], got["unscored"], got["verdict"]) == (
        *(RECORDS, 0),
        "no preference detectable",
    )
    assert got["position"]["flip_rate"]["value"] == 1.0
    assert verified.code == 0
    trial = Trial(
        judgements=kept,
        judge_calls=endpoint.calls[JUDGE_MODEL],
        kills=2,
        concurrency=AT_ONCE,
    )
    check_run(newest(root), trial)


def test_a_killed_comparison_can_be_cancelled(
    command: WarmCommand, endpoint: JudgeEndpoint, project: tuple[Path, list[str]]
) -> None:
    root, runs = project
    command.start(root, *compare(runs[:2]))
    killed_after(command, endpoint, 15)
    cancelled, shown = run_many(root, [("cancel", "latest"), ("show", "latest", *JSON)])
    (got,) = json.loads(shown.stdout)["pairwise"]["comparisons"]

    assert cancelled.code in {0, 130}, cancelled.stderr
    assert got["status"] == "cancelled"
    assert got["records"] == RECORDS
    assert 0 < got["unscored"] < RECORDS
    check_run(newest(root))


def test_a_judge_that_changed_stops_the_resumption(
    command: WarmCommand, endpoint: JudgeEndpoint, project: tuple[Path, list[str]]
) -> None:
    root, runs = project
    words = ("compare", *runs[:2], "--pairwise", "judges/better.yaml")
    command.start(root, *words)
    killed_after(command, endpoint, 10)
    judge = root / "judges" / "better.yaml"
    judge.write_text(judge.read_text("utf-8").replace("better?", "worse?"), "utf-8")
    (done,) = run_many(root, [("resume", "latest")])

    assert done.code == 3
    assert "a judge, or the model or sampling of its target, of run_" in done.stderr


@pytest.mark.trials
def test_the_budget_holds_for_all_pairs_together_and_the_cache_saves_what_was_paid(
    command: WarmCommand, endpoint: JudgeEndpoint, project: tuple[Path, list[str]]
) -> None:
    """A call costs $0.015: $0.6 are 40 calls, of the 180 that three pairs take."""
    root, runs = project
    command.start(root, *compare(runs, "--budget", "0.6"))
    limited = command.wait()
    paid = endpoint.calls[JUDGE_MODEL]
    command.start(root, *compare(runs, "--cache", "--max-concurrency", "2"))
    cached = command.wait()

    assert limited.code == 4
    assert "the budget of $0.6" in limited.stderr
    assert 35 <= paid <= 40 + 3 * (AT_ONCE + 1)
    assert cached.code == 0
    assert endpoint.calls[JUDGE_MODEL] - paid <= 180 - 35 + 3
    manifest = json.loads((newest(root) / "run_manifest.json").read_bytes())
    assert (manifest["options"]["cache"], manifest["options"]["max_concurrency"]) == (True, 2)
    assert metrics(newest(root))["judging"]["calls"] <= 2 * RECORDS
    check_run(newest(root))
