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
from urllib.request import Request, urlopen

from bench.child import ROOT, STEELYARD
from bench.http_load import Answer, connect, percentiles, request_bytes
from bench.page import machine, write_section

from steelyard.project import open_project
from steelyard.usecases.access.keys import KeyRequest, create_key
from steelyard.usecases.access.users import add_user

RECORDS = 2_000
LONG_RUN = 200_000
LONG_REPEAT = 20
"""So many calls a record that the long run lasts while everything beside it is measured."""
CONNECTIONS = 16
SECONDS = 2.0
ROUNDS = 9
"""Many short ones in turns, so that a busy moment hits both sides."""
CLIENTS = 50
POSTING_S = 60.0
_KEYS = 60
"""A key may ask 600 times in a minute."""
_PAGE = "records?limit=20"
_RUBRIC = """\
id: so
version: 1.0.0
checks:
  - {id: says_so, kind: must_contain_any, phrases: [So]}
scoring: {combine: all_pass}
"""
_ENDED = ("completed", "completed_with_failures", "failed", "cancelled")


class Row(NamedTuple):
    """One row of the table; `HEADS` is the first."""

    what: str
    per_s: str
    share: str
    cpu: str
    p50: str
    p95: str
    p99: str
    errors: str
    rss: str


HEADS = Row(
    what="what",
    per_s="requests/s",
    share="of the framework's",
    cpu="CPU µs a request",
    p50="p50 ms",
    p95="p95 ms",
    p99="p99 ms",
    errors="errors",
    rss="RSS MB",
)


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
    root = folder / "project"
    run_id = _make_project(root)
    rows: list[Row] = []
    with serving(root) as server, serving(root, "--login") as guarded:
        bench = _Bench(folder, _new_keys(root))
        ended = {"status": f"/v1/runs/{run_id}", "records": f"/v1/runs/{run_id}/{_PAGE}"}
        rows += bench.rows(server, ended, "beside nothing else")
        with _running(root, server) as going:
            of_it = {"status": f"/v1/runs/{going}", "records": f"/v1/runs/{going}/{_PAGE}"}
            rows += bench.rows(server, ended, "beside a run")
            rows += bench.rows(server, of_it, "of that run")
            rows += bench.rows(server, {"records": f"/v1/runs/latest/{_PAGE}"}, "as `latest`")
            rows += bench.rows(server, {"runs": "/v1/runs"}, "beside a run")
            with_key = {"status": ended["status"]}
            rows += bench.rows(guarded, with_key, "beside a run, with a key", has_key=True)
        posted, polled, runs = asyncio.run(_post_and_poll(server.url))
        rows += [
            _row(f"{CLIENTS} clients post runs", posted, server),
            _row(f"{CLIENTS} clients poll them", polled, server),
        ]
    return table(rows, f"{runs} runs in {POSTING_S:.0f} s.")


class _Bench(NamedTuple):
    """Asks a server, and in turns the bare framework that sends the same bytes."""

    folder: Path
    keys: Iterator[Sequence[str]]

    def rows(
        self, server: Server, paths: dict[str, str], where: str, *, has_key: bool = False
    ) -> Iterator[Row]:
        """A row of the framework and one of the server for each path."""
        for name, path in paths.items():
            key = next(self.keys)[0] if has_key else None
            with self._bare(_fetched(server.url + path, key)) as bare:
                rounds = [
                    (_loaded(bare, "/answer"), _loaded(server, path, self._keys(has_key=has_key)))
                    for _ in range(ROUNDS)
                ]
                shares = [found["per_s"] / ceiling["per_s"] for ceiling, found in rounds]
                ceiling, found = map(_medians, zip(*rounds, strict=True))
                yield _row(f"{name}, bare framework, {where}", ceiling, bare)
                share = f"{statistics.median(shares):.0%}"
                yield _row(f"{name}, {where}", found, server, share)

    def _keys(self, *, has_key: bool) -> Path | None:
        """A file with keys that nobody has used."""
        if not has_key:
            return None
        path = self.folder / "keys"
        path.write_text("\n".join(next(self.keys)), encoding="ascii")
        return path

    @contextmanager
    def _bare(self, answer: bytes) -> Generator[Server]:
        held = self.folder / "held"
        held.mkdir(exist_ok=True)
        (held / "answer").write_bytes(answer)
        program = ROOT / "bench" / "bare_service.py"
        with _started(sys.executable, "-P", program, held, cwd=self.folder) as bare:
            yield bare


def _medians(rounds: Sequence[dict[str, float]]) -> dict[str, float]:
    found = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    return {**found, "errors": sum(one["errors"] for one in rounds)}


def _row(what: str, found: dict[str, float], server: Server, share: str = "") -> Row:
    p50, p95, p99 = (f"{found[name]:.1f}" for name in ("p50", "p95", "p99"))
    row = Row(
        what=what,
        per_s=f"{found['per_s']:,.0f}",
        share=share,
        cpu=f"{found['cpu_us']:.0f}" if "cpu_us" in found else "",
        p50=p50,
        p95=p95,
        p99=p99,
        errors=f"{found['errors']:.0f}",
        rss=f"{server.rss_mb:.0f}",
    )
    print(row, flush=True)
    return row


def table(rows: Sequence[Row], posted: str) -> str:
    """The table of a page, below what it was measured with."""
    load = f"{CONNECTIONS} connections, medians of {ROUNDS} rounds of {SECONDS:.0f} s"
    lines = [
        f"Measured by `python -m bench.http_service`: {machine()}; {load}; {posted}",
        "",
        f"| {' | '.join(HEADS)} |",
        f"|{'---|' * len(HEADS)}",
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
    with open_project(root) as project:  # a server with login needs one
        add_user(project.access_ports(), "admin", "admin", "a password of the bench")
    return json.loads(done.stdout)["run_id"]


def _case(number: int) -> dict[str, Any]:
    question = f"Question {number}: " + "what is it like? " * 12
    says = [{"type": "contains", "value": "like"}]
    return {"id": f"r{number}", "expected_outcome": "So.", "input": question, "evaluators": says}


def _new_keys(root: Path) -> Iterator[Sequence[str]]:
    """Enough new keys for one round, again and again."""
    with open_project(root) as project:
        while True:
            request = KeyRequest("bench", "viewer")
            yield [create_key(project.access_ports(), request).secret for _ in range(_KEYS)]


@contextmanager
def serving(root: Path, *options: str) -> Generator[Server]:
    with _started(*STEELYARD, "serve", "--port", "0", *options, cwd=root) as server:
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
def _running(root: Path, server: Server) -> Generator[str]:
    """The id of a run that goes on in a process of its own while something is measured."""
    command = (*STEELYARD, "run", "datasets/many.jsonl", "--target", "echo")
    command += ("--repeat", str(LONG_REPEAT), "--format", "json")
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
    try:
        while (run := json.loads(_fetched(f"{server.url}/v1/runs/latest")))["status"] != "running":
            if process.poll() is not None:
                raise SystemExit("the run has ended before it was running")
            time.sleep(0.5)
        yield run["run_id"]
        if process.poll() is not None:
            raise SystemExit("the run has ended before the measurement; give it more records")
    finally:
        process.terminate()
        process.wait(30)


def _fetched(url: str, key: str | None = None) -> bytes:
    asked = Request(url, headers={"X-API-Key": key} if key else {})
    with urlopen(asked, timeout=30) as answer:
        return answer.read()


def _loaded(server: Server, path: str, keys: Path | None = None) -> dict[str, float]:
    """What a client in another process measures, and what the server computes a request."""
    options = ["--connections", str(CONNECTIONS), "--seconds", str(SECONDS)]
    options += ["--keys", str(keys)] if keys else []
    command = (sys.executable, "-m", "bench.http_load", server.url + path, *options)
    before = server.cpu_s
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return {**found, "cpu_us": (server.cpu_s - before) / (found["per_s"] * SECONDS) * 1e6}


async def _post_and_poll(url: str) -> tuple[dict[str, float], dict[str, float], int]:
    """Every client posts a small run, polls it until it has ended, and begins anew."""
    posted, polled = _Timed(202), _Timed(200)
    end = time.perf_counter() + POSTING_S

    async def client(number: int) -> None:
        connection = await connect(url)
        while time.perf_counter() < end:
            body = await posted.answer(connection.ask(_post(url, number)))
            request, status = request_bytes(f"{url}/v1/runs/{body['run_id']}"), ""
            while status not in _ENDED and time.perf_counter() < end:
                await asyncio.sleep(0.25)
                status = (await polled.answer(connection.ask(request)))["status"]
        connection.close()

    await asyncio.gather(*map(client, range(CLIENTS)))
    return posted.found(), polled.found(), len(posted.times)


class _Timed:
    """Answers of one kind, which are all meant to have one status."""

    def __init__(self, status: int) -> None:
        self.times: list[float] = []
        self._status = status

    async def answer(self, waiting: asyncio.Future[Answer]) -> Any:
        """The JSON of the next answer; any other than what is meant ends the measurement."""
        begin = time.perf_counter()
        answer = await waiting
        self.times.append(time.perf_counter() - begin)
        if answer.status != self._status:
            raise SystemExit(f"answered with {answer}")
        return json.loads(answer.body)

    def found(self) -> dict[str, float]:
        """What the table shows."""
        return {
            "per_s": len(self.times) / POSTING_S,
            "errors": 0,
            **percentiles(self.times),
        }


def _post(url: str, number: int) -> bytes:
    records = [{"record_id": f"r{n}", "input": {"prompt": "So?"}} for n in range(5)]
    head = {"dataset_id": f"d{number}", "dataset_version": "1", "schema_version": "1.0"}
    body = json.dumps(
        {**head, "run": {"target": "echo", "rubric": "so@1.0"}, "records": records}
    ).encode()
    return request_bytes(f"{url}/v1/runs", body)


if __name__ == "__main__":
    main()
