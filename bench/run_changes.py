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
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
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
Seconds: TypeAlias = list[float]
_HEADS = ("change", "until", "ms", "slowest ms")


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

    def change(self, run_id: str, verb: str, states: Sequence[str], body: Any = None) -> Seconds:
        """How long a change takes until it is answered, and until the run is in some states."""
        asked = time.time()
        changed = self.ask(f"/v1/runs/{run_id}/{verb}", body or {})["run_id"]
        answered = time.time()
        run = self.when(changed, lambda run: run["status"] in _ENDED)
        at = {one["state"]: datetime.fromisoformat(one["at"]) for one in reversed(run["states"])}
        return [answered - asked, *(at[state].timestamp() - asked for state in states)]

    def resume(self) -> Seconds:
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
        return [answered - asked, effect - asked]


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
    cancelled = ("finalizing", "cancelled")
    for count in (RECORDS, MANY):
        made = [service.change(_begun(service, count), "cancel", cancelled) for _ in range(ROUNDS)]
        what = ("no call is made: `finalizing`", "the results are sealed: `cancelled`")
        yield from _changed(f"cancel of {count:,} records", made, what)
    resumed = [service.resume() for _ in range(ROUNDS)]
    yield from _changed("resume of a killed run", resumed, ("a worker has it: not `waiting`",))
    begun = ("validating", "running")
    for verb, sent in (("retry", None), ("regrade", {"rubric": "so@1.0"})):
        made = [service.change(ended, verb, begun, sent) for _ in range(ROUNDS)]
        yield from _changed(verb, made, ("a worker has it: `validating`", "`running`"))


def _begun(service: Service, count: int) -> str:
    run_id = service.post(count)
    service.when(run_id, lambda run: run["progress"]["done"] > 20)
    return run_id


def _changed(what: str, made: Sequence[Seconds], effects: Sequence[str]) -> Iterator[str]:
    """A row for the answer, and one for each effect."""
    for place, effect in enumerate(("it is answered", *effects)):
        taken = [one[place] * 1000 for one in made]
        numbers = f"{statistics.median(taken):,.0f} | {max(taken):,.0f}"
        row = f"| {what} | {effect} | {numbers} |"
        print(row, flush=True)
        yield row


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
