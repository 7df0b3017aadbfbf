"""How soon changes of runs take effect over HTTP: `python -m bench.run_changes`.

A server with one worker that is free, or busy with the run that is cancelled.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from bench.child import STEELYARD
from bench.http_service import serving
from bench.page import machine, write_section

ROUNDS = 5
RECORDS = 2_000
MANY = 50_000
_AGENT = """\
import asyncio


async def answer(prompt):
    await asyncio.sleep(0.02)
    if "fail" in prompt:
        raise ValueError("no")
    return prompt
"""
_SETTINGS = """\
targets:
  slow: {provider: python, callable: "slow_agent:answer", max_concurrency: 8}
retry: {max_attempts: 1}
"""
_RUBRIC = """\
id: so
version: 1.0.0
checks:
  - {id: says_so, kind: must_contain_any, phrases: [So]}
scoring: {combine: all_pass}
"""
_ENDED = ("completed", "completed_with_failures", "failed", "cancelled")
_HEADS = ("change", "answered after ms", "in effect after ms", "slowest ms", "what that is")


class Change(NamedTuple):
    """How long one change took, in seconds."""

    answered_s: float
    effect_s: float


class Service(NamedTuple):
    """A server of a project."""

    root: Path
    url: str

    def post(self, count: int) -> str:
        """The id of a new run."""
        records = [
            {"record_id": f"r{number}", "input": {"prompt": "So?" if number % 10 else "fail"}}
            for number in range(count)
        ]
        head = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"}
        return self.ask("/v1/runs?target=slow&rubric=so@1.0", {**head, "records": records})[
            "run_id"
        ]

    def ask(self, path: str, body: Any = None) -> Any:
        """The answer to a request: GET, or POST where there is a body."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, {"content-type": "application/json"})
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def when(self, run_id: str, is_so: Callable[[Any], bool]) -> Any:
        """A run as soon as something is true of it."""
        while not is_so(run := self.ask(f"/v1/runs/{run_id}")):
            time.sleep(0.01)
        return run

    def change(self, run_id: str, verb: str, state: str, body: Any = None) -> Change:
        """Change a run and wait until it, or the new one, is in a state."""
        asked = time.time()
        changed = self.ask(f"/v1/runs/{run_id}/{verb}", body or {})["run_id"]
        answered = time.time()
        run = self.when(changed, lambda run: state in _times(run))
        effect = _times(run)[state] - asked
        self.when(changed, lambda run: run["status"] in _ENDED)
        return Change(answered - asked, effect)

    def resume(self) -> Change:
        """Resume a run of the command line that was killed."""
        process = subprocess.Popen(
            (*STEELYARD, "run", "d.json", "--target", "slow", "--rubric", "so@1.0"),
            cwd=self.root,
            stderr=subprocess.DEVNULL,
        )
        known = self.ask("/v1/runs/latest")["run_id"]
        run_id = self.when("latest", lambda run: run["run_id"] != known)["run_id"]
        self.when(run_id, lambda run: run["progress"]["done"] > 0)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.when(run_id, lambda run: run["resumable"])
        asked = time.time()
        self.ask(f"/v1/runs/{run_id}/resume", {})
        answered = time.time()
        self.when(run_id, lambda run: not run["waiting"])
        effect = time.time()
        self.when(run_id, lambda run: run["status"] in _ENDED)
        return Change(answered - asked, effect - asked)


def main() -> None:
    """Measure, and write the table into the page."""
    with tempfile.TemporaryDirectory(prefix="bench-changes-") as name:
        text = measured(Path(name))
    write_section("changes", text)


def measured(root: Path) -> str:
    """The table."""
    _make_project(root)
    with serving(root) as server:
        service = Service(root, server.url)
        rows = list(_rows(service))
    load = f"medians of {ROUNDS} changes, from the moment at which each is asked for"
    lines = [
        f"Measured by `python -m bench.run_changes`: {machine()}; {load}.",
        "",
        f"| {' | '.join(_HEADS)} |",
        f"|{'---|' * len(_HEADS)}",
        *rows,
    ]
    return "\n".join(lines)


def _rows(service: Service) -> Iterator[str]:
    ended = service.post(200)
    service.when(ended, lambda run: run["status"] in _ENDED)
    for count in (RECORDS, MANY):
        made = [_cancelled(service, count) for _ in range(ROUNDS)]
        yield _row(f"cancel of {count:,} records", made, "calls have stopped: `finalizing`")
    ends = [_cancelled(service, MANY, "cancelled") for _ in range(ROUNDS)]
    yield _row(f"cancel of {MANY:,} records", ends, "sealed: `cancelled`")
    resumed = [service.resume() for _ in range(ROUNDS)]
    yield _row("resume of a killed run", resumed, "a worker holds it: not `waiting`")
    body = {"rubric": "so@1.0"}
    for verb, sent, what in (("retry", None, "again"), ("regrade", body, "new rubric")):
        for state in ("validating", "running"):
            made = [service.change(ended, verb, state, sent) for _ in range(ROUNDS)]
            yield _row(f"{verb} ({what})", made, f"`{state}`")


def _cancelled(service: Service, count: int, state: str = "finalizing") -> Change:
    run_id = service.post(count)
    service.when(run_id, lambda run: run["progress"]["done"] > 20)
    return service.change(run_id, "cancel", state)


def _row(what: str, made: list[Change], effect: str) -> str:
    answered = statistics.median(one.answered_s for one in made)
    taken = statistics.median(one.effect_s for one in made)
    slowest = max(one.effect_s for one in made)
    numbers = (f"{seconds * 1000:,.0f}" for seconds in (answered, taken, slowest))
    row = f"| {' | '.join((what, *numbers, effect))} |"
    print(row, flush=True)
    return row


def _times(run: Any) -> dict[str, float]:
    return {
        one["state"]: datetime.fromisoformat(one["at"]).timestamp()
        for one in reversed(run["states"])
    }


def _make_project(root: Path) -> None:
    (root / "rubrics").mkdir()
    (root / "rubrics" / "so.yaml").write_text(_RUBRIC, encoding="utf-8")
    (root / "steelyard.yaml").write_text(_SETTINGS, encoding="utf-8")
    (root / "slow_agent.py").write_text(_AGENT, encoding="utf-8")
    rows = [{"record_id": f"r{n}", "input": {"prompt": "So?"}} for n in range(400)]
    head = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"}
    (root / "d.json").write_text(json.dumps({**head, "records": rows}), encoding="utf-8")


if __name__ == "__main__":
    main()
