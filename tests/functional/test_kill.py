"""`kill -9` at any moment, then `resume`: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from checker import Place, Trial, check_run, stored_predictions
from servers.openai_server import COMPLETION, serving

RECORDS = 320
CONCURRENCY = 8
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: says_nine, kind: must_contain_any, phrases: [nine]}]
scoring: {combine: all_pass}
"""


@dataclass
class Endpoint:
    """A server in a thread of its own that counts what it is asked."""

    url: str = ""
    calls: int = 0
    ready: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        await asyncio.sleep(0.01)
        return web.json_response(COMPLETION)

    async def serve(self) -> None:
        async with serving(self.answer) as url:
            self.url = url
            self.ready.set()
            await asyncio.to_thread(self.over.wait)


@pytest.fixture(scope="module")
def endpoint() -> Generator[Endpoint]:
    """An endpoint for the whole module."""
    made = Endpoint()
    thread = threading.Thread(target=lambda: asyncio.run(made.serve()))
    thread.start()
    made.ready.wait()
    yield made
    made.over.set()
    thread.join()


def write_project(folder: Path, endpoint: Endpoint) -> None:
    """A project with a target, a rubric and a document of a few hundred records."""
    (folder / "rubrics").mkdir()
    (folder / "rubrics" / "any.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "steelyard.yaml").write_text(
        f"targets: {{live: {{provider: openai, base_url: '{endpoint.url}', model: m, "
        f"max_concurrency: {CONCURRENCY}}}}}\n",
        encoding="utf-8",
    )
    records = [
        {"record_id": f"r{n}", "input": {"prompt": f"When? {n}"}, "tags": [f"t{n % 3}"]}
        for n in range(RECORDS)
    ]
    document = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"}
    (folder / "d.json").write_text(json.dumps({**document, "records": records}), encoding="utf-8")


def started(folder: Path, run_id: str | None) -> subprocess.Popen[bytes]:
    words = (
        ["resume", run_id] if run_id else ["run", "d.json", "--target", "live", "--rubric", "any"]
    )
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words, "--format", "json"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def newest_run(folder: Path) -> str | None:
    """The id of the last run, when one was made before the kill."""
    database = folder / ".steelyard" / "steelyard.db"
    if not database.exists():
        return None
    connection = sqlite3.connect(database)
    try:
        found = connection.execute("SELECT max(run_id) FROM runs").fetchone()
    except sqlite3.OperationalError:
        return None
    finally:
        connection.close()
    return found[0] if found else None


def is_killed(process: subprocess.Popen[bytes], endpoint: Endpoint, chance: random.Random) -> bool:
    """Kill after some calls, or after some time; False when the process was done before."""
    calls = endpoint.calls + chance.randint(1, 60) if chance.random() < 0.7 else 1 << 30
    until = time.monotonic() + (chance.uniform(0.3, 1.5) if calls == 1 << 30 else 30)
    while process.poll() is None:
        if endpoint.calls >= calls or time.monotonic() >= until:
            process.kill()
            process.communicate()
            return True
        time.sleep(0.001)
    return False


def killed_run(folder: Path, endpoint: Endpoint, seed: int, most: int) -> int:
    """One run, killed and resumed until it is done; then the checker. How often it was killed."""
    chance = random.Random(seed)
    write_project(folder, endpoint)
    first = started(folder, None)
    _, said = first.communicate()
    assert first.returncode == 0, said.decode()
    whole = folder / ".steelyard" / "runs" / str(newest_run(folder))
    before, kills = endpoint.calls, 0
    run_id: str | None = None
    acknowledged: dict[Place, bytes] = {}
    while True:
        process = started(folder, run_id)
        if kills >= most or not is_killed(process, endpoint, chance):
            break
        kills += 1
        newest = newest_run(folder)
        run_id = newest if newest != whole.name else None
        if run_id:
            acknowledged.update(stored_predictions(whole.parent / run_id))
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()
    trial = Trial(
        acknowledged=acknowledged,
        calls=endpoint.calls - before,
        kills=kills,
        concurrency=CONCURRENCY,
        uninterrupted=whole,
    )
    check_run(whole.parent / str(newest_run(folder)), trial)
    return kills


def test_fifty_kills_lose_nothing_and_double_nothing(
    endpoint: Endpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kills, seed = 0, 0
    while kills < 50:
        seed += 1
        folder = tmp_path / str(seed)
        folder.mkdir()
        kills += killed_run(folder, endpoint, seed, most=50 - kills)
        with capsys.disabled():
            sys.stdout.write(f"[seed {seed}: {kills} kills] ")

    assert kills == 50


@pytest.mark.soak
def test_a_thousand_kills(endpoint: Endpoint, tmp_path: Path) -> None:
    kills, seed = 0, 1000
    while kills < 1000:
        seed += 1
        folder = tmp_path / str(seed)
        folder.mkdir()
        kills += killed_run(folder, endpoint, seed, most=1000 - kills)

    assert kills == 1000
