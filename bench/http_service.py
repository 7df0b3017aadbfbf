"""What the server takes to answer, beside the bare framework: `python -m bench.http_service`.

Both send the same bytes, on the same settings, to the same client, in turns. Measured with nothing
else to do, and while a run is executed at full speed.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from bench.child import ROOT, STEELYARD
from bench.http_load import connect, percentiles, request_bytes
from bench.page import machine, write_section

RECORDS = 2_000
LONG_RUN = 800_000
CONNECTIONS = 16
SECONDS = 2.0
ROUNDS = 9
"""Many short ones in turns, so that a busy moment hits both sides."""
CLIENTS = 50
POSTING_S = 60.0
_RUBRIC = """\
id: so
version: 1.0.0
checks:
  - {id: says_so, kind: must_contain_any, phrases: [So]}
scoring: {combine: all_pass}
"""
_HEADS = (
    *("what", "requests/s", "of the framework's", "CPU µs a request"),
    *("p50 ms", "p95 ms", "p99 ms", "errors"),
)
_ENDED = ("completed", "completed_with_failures", "failed", "cancelled")


class Row(NamedTuple):
    """One row of the table."""

    what: str
    per_s: str
    share: str
    cpu: str
    p50: str
    p95: str
    p99: str
    errors: str


class Server(NamedTuple):
    """A process that answers."""

    url: str
    process: subprocess.Popen[str]

    @property
    def rss_mb(self) -> float:
        """The memory that it holds now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1000

    @property
    def cpu_s(self) -> float:
        """The time that it has computed, in user and in system mode."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure, and write the table into the page."""
    with tempfile.TemporaryDirectory(prefix="bench-service-") as name:
        text = measured(Path(name))
    write_section("service", text)


def measured(folder: Path) -> str:
    """The table."""
    root, held = folder / "project", folder / "held"
    held.mkdir()
    run_id = _make_project(root)
    with serving(root) as server:
        paths = {"status": f"/v1/runs/{run_id}", "records": f"/v1/runs/{run_id}/records?limit=20"}
        for name, path in paths.items():
            (held / name).write_bytes(_fetched(server.url + path))
        with _started(
            sys.executable, "-P", ROOT / "bench" / "bare_service.py", held, cwd=folder
        ) as bare:
            rows = list(_rows(server, bare, paths, "nothing else"))
            with _running(root, server):
                rows += _rows(server, bare, paths, "a run")
        idle = server.rss_mb
        posted = asyncio.run(_post_and_poll(server.url))
        rows.append(_row(f"{CLIENTS} clients post runs and poll them", posted, ""))
        memory = (
            f"RSS of the server {idle:.0f} MB after that load, {server.rss_mb:.0f} MB at the end"
        )
    return _table(rows, f"{memory}; {posted['runs']:.0f} runs in {POSTING_S:.0f} s.")


def _rows(server: Server, bare: Server, paths: dict[str, str], beside: str) -> Iterator[Row]:
    for name, path in paths.items():
        rounds = [(_loaded(bare, f"/{name}"), _loaded(server, path)) for _ in range(ROUNDS)]
        shares = [found["per_s"] / ceiling["per_s"] for ceiling, found in rounds]
        ceiling, found = map(_medians, zip(*rounds, strict=True))
        yield _row(f"{name}, bare framework, beside {beside}", ceiling, "")
        yield _row(f"{name}, beside {beside}", found, f"{statistics.median(shares):.0%}")


def _medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    found = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    return {**found, "errors": sum(one["errors"] for one in rounds)}


def _row(what: str, found: dict[str, float], share: str) -> Row:
    p50, p95, p99 = (f"{found[name]:.1f}" for name in ("p50", "p95", "p99"))
    cpu = f"{found['cpu_us']:.0f}" if "cpu_us" in found else ""
    row = Row(what, f"{found['per_s']:,.0f}", share, cpu, p50, p95, p99, f"{found['errors']:.0f}")
    print(row, flush=True)
    return row


def _table(rows: list[Row], memory: str) -> str:
    load = f"{CONNECTIONS} connections, medians of {ROUNDS} rounds of {SECONDS:.0f} s"
    lines = [
        f"Measured by `python -m bench.http_service`: {machine()}; {load}. {memory}",
        "",
        f"| {' | '.join(_HEADS)} |",
        f"|{'---|' * len(_HEADS)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines)


def _make_project(root: Path) -> str:
    """A project with a finished run, and a dataset that takes a while."""
    (root / "datasets").mkdir(parents=True)
    (root / "rubrics").mkdir()
    (root / "rubrics" / "so.yaml").write_text(_RUBRIC, encoding="utf-8")
    (root / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    for name, count in (("some", RECORDS), ("many", LONG_RUN)):
        with (root / "datasets" / f"{name}.jsonl").open("w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(_case(number)) + "\n" for number in range(count))
    command = (*STEELYARD, "run", "datasets/some.jsonl", "--target", "echo", "--format", "json")
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["run_id"]


def _case(number: int) -> dict[str, Any]:
    question = f"Question {number}: " + "what is it like? " * 12
    says = [{"type": "contains", "value": "like"}]
    return {"id": f"r{number}", "expected_outcome": "So.", "input": question, "evaluators": says}


@contextmanager
def serving(root: Path) -> Generator[Server]:
    with _started(*STEELYARD, "serve", "--port", "0", cwd=root) as server:
        yield server


@contextmanager
def _started(*command: object, cwd: Path) -> Generator[Server]:
    """A server that prints its address first."""
    words = [str(word) for word in command]
    # Its log is written, as it is in use, but not to a terminal.
    with (cwd / "server.log").open("ab") as log:
        process = subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout
    words_of = (word for line in process.stdout for word in line.split())
    url = next(word for word in words_of if word.startswith("http")).rstrip("/")
    try:
        yield Server(url, process)
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def _running(root: Path, server: Server) -> Generator[None]:
    """A run in a process of its own, for as long as something is measured beside it."""
    command = (*STEELYARD, "run", "datasets/many.jsonl", "--target", "echo", "--format", "json")
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
    try:
        while json.loads(_fetched(f"{server.url}/v1/runs/latest"))["status"] != "running":
            if process.poll() is not None:
                raise SystemExit("the run has ended before it was running")
            time.sleep(0.5)
        yield
        if process.poll() is not None:
            raise SystemExit("the run has ended before the measurement; give it more records")
    finally:
        process.terminate()
        process.wait(30)


def _fetched(url: str) -> bytes:
    with urlopen(url, timeout=30) as answer:
        return answer.read()


def _loaded(server: Server, path: str) -> dict[str, float]:
    """What a client in another process measures, and what the server computes a request."""
    options = ("--connections", str(CONNECTIONS), "--seconds", str(SECONDS))
    command = (sys.executable, "-m", "bench.http_load", server.url + path, *options)
    before = server.cpu_s
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return {**found, "cpu_us": (server.cpu_s - before) / (found["per_s"] * SECONDS) * 1e6}


async def _post_and_poll(url: str) -> dict[str, float]:
    """Every client posts a small run, polls it until it has ended, and begins anew."""
    times: list[float] = []
    errors, runs = 0, 0
    end = time.perf_counter() + POSTING_S

    async def client(number: int) -> None:
        nonlocal errors, runs
        connection = await connect(url)
        while time.perf_counter() < end:
            answer = await _timed(connection.ask(_post(url, number)), times)
            errors += answer.status != 202
            if answer.status != 202:
                print(answer, flush=True)
                return
            runs += 1
            run_id = json.loads(answer.body)["run_id"]
            status = ""
            while status not in _ENDED and time.perf_counter() < end:
                await asyncio.sleep(0.25)
                request = request_bytes(f"{url}/v1/runs/{run_id}")
                answer = await _timed(connection.ask(request), times)
                errors += answer.status != 200
                status = json.loads(answer.body).get("status", "")
        connection.close()

    await asyncio.gather(*map(client, range(CLIENTS)))
    done = {"per_s": len(times) / POSTING_S, "errors": errors, "runs": runs}
    return {**done, **percentiles(times)}


async def _timed(waiting: asyncio.Future[Any], times: list[float]) -> Any:
    begin = time.perf_counter()
    answer = await waiting
    times.append(time.perf_counter() - begin)
    return answer


def _post(url: str, number: int) -> bytes:
    records = [{"record_id": f"r{n}", "input": {"prompt": "So?"}} for n in range(5)]
    head = {"dataset_id": f"d{number}", "dataset_version": "1", "schema_version": "1.0"}
    body = json.dumps(
        {**head, "run": {"target": "echo", "rubric": "so@1.0"}, "records": records}
    ).encode()
    return request_bytes(f"{url}/v1/runs", body)


if __name__ == "__main__":
    main()
