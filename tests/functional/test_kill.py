"""`kill -9` at any moment, then `resume`: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from checker import Place, Trial, check_run, stored_predictions
from fakes.warm_command import WarmCommand
from servers.openai_server import COMPLETION, serving

pytestmark = pytest.mark.trials

RECORDS = 320
CONCURRENCY = 8
RUN = ("run", "d.json", "--target", "live", "--rubric", "any@1.0.0", "--format", "json")
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


@pytest.fixture(scope="module")
def command() -> Generator[WarmCommand]:
    """The command, which starts at once."""
    with closing(WarmCommand(is_measured=False)) as made:
        yield made


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, endpoint: Endpoint, command: WarmCommand
) -> Path:
    """The folder of a run over the same dataset that nobody stopped."""
    root = tmp_path_factory.mktemp("whole")
    write_project(root, endpoint)
    command.start(root, *RUN)
    assert command.wait().code == 0
    return root / ".steelyard" / "runs" / str(newest_run(root))


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


def is_killed(command: WarmCommand, endpoint: Endpoint, chance: random.Random, left: int) -> bool:
    """Kill soon after the start, some calls, or the last one; False when it was done before."""
    moment = chance.random()
    calls = 0 if moment < 0.15 else left if moment < 0.25 else chance.randint(1, 40)
    delay = 0.0 if moment >= 0.25 else chance.uniform(0.0, 0.12)
    calls, due = endpoint.calls + calls, 0.0
    while not command.has_ended(within_s=0.001):
        if endpoint.calls < calls:
            continue
        due = due or time.monotonic() + delay
        if time.monotonic() >= due:
            return command.kill().code == -signal.SIGKILL
    return False


@dataclass(frozen=True)
class Killing:
    """Kills processes and counts how often."""

    endpoint: Endpoint
    command: WarmCommand
    whole: Path

    def killed_run(self, root: Path, seed: int, most: int) -> int:
        """One run, killed and resumed until it is done; then the checker. How many kills."""
        chance = random.Random(seed)
        write_project(root, self.endpoint)
        before, kills = self.endpoint.calls, 0
        acknowledged: dict[Place, bytes] = {}
        while True:
            run_id = newest_run(root)
            if run_id:
                acknowledged.update(stored_predictions(root / ".steelyard" / "runs" / run_id))
            words = ("resume", run_id, "--format", "json") if run_id else RUN
            self.command.start(root, *words)
            left = RECORDS - len(acknowledged)
            if kills >= most or not is_killed(self.command, self.endpoint, chance, left):
                break
            kills += 1
        ended = self.command.wait()
        assert ended.code == 0, ended.stderr
        trial = Trial(
            acknowledged=acknowledged,
            calls=self.endpoint.calls - before,
            kills=kills,
            concurrency=CONCURRENCY,
            uninterrupted=self.whole,
        )
        check_run(root / ".steelyard" / "runs" / str(newest_run(root)), trial)
        return kills

    def until(self, root: Path, number: int, first_seed: int) -> int:
        """As many runs as it takes; the seed of each is printed."""
        kills, seed = 0, first_seed
        while kills < number:
            folder = root / str(seed)
            folder.mkdir()
            kills += self.killed_run(folder, seed, most=number - kills)
            sys.stdout.write(f"[seed {seed}: {kills} kills] ")
            seed += 1
        return kills


@pytest.fixture
def killing(endpoint: Endpoint, command: WarmCommand, whole: Path) -> Killing:
    """What kills."""
    return Killing(endpoint, command, whole)


def test_kills_lose_nothing_and_double_nothing(
    killing: Killing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        assert killing.until(tmp_path, 5, first_seed=1) == 5


def test_a_hundred_kills_lose_nothing_and_double_nothing(
    killing: Killing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        assert killing.until(tmp_path, 100, first_seed=1) == 100


@pytest.mark.soak
def test_a_thousand_kills(
    killing: Killing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        assert killing.until(tmp_path, 1000, first_seed=1001) == 1000
