"""The same run on one, two and four workers: processes of this machine, and actors of Ray.

Speed is that from the first call to the last, and what a record costs is the difference between a
long and a short run, so that what it takes to start is in no number. `python -m bench.scale`
writes the table; `--rows 12000` measures shorter runs, `--store URL` a store in PostgreSQL. Parts
are measured with `--engines local`, `--delays 50` and `--workers 1 2`: every row is kept in
`bench/data/scale.json`, and the table has all that were kept of one size. On Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from bench.child import ROOT, STEELYARD
from bench.engine import FOLDER, cases, prepare
from bench.page import machine, write_section
from bench.processes import Watched

ROWS = 50_000
FEW = 2_000
SQLITE = "SQLite"
AT_ONCE = 256
DELAYS_MS = (0, 50)
WORKERS = (1, 2, 4)
ENGINES = ("local", "ray")
_NEAR = 0.9
"""So much of what there is counts as all of it."""
_HEAD = (
    *(
        "answers after",
        "store",
        "workers",
        "records a second",
        "CPU a record",
        "against one process",
    ),
    *("memory", "what is used up"),
)
KEPT = ROOT / "bench" / "data" / "scale.json"
_OBJECT_BYTES = 80 * 1024 * 1024


class Taken(NamedTuple):
    """What a run took."""

    calls_s: float
    """From its first call to its last."""
    cpu_s: float
    endpoint_cpu_s: float
    peak_bytes: int


class Scaled(NamedTuple):
    """A row of the table."""

    engine: str
    workers: int
    delay_ms: int
    speed: float
    cpu_ms: float
    busy: float
    """How many cores run and endpoint keep busy."""
    peak_bytes: int
    store: str
    rows: int

    @property
    def which(self) -> tuple[object, ...]:
        """What was measured; the rows of the table come in this order."""
        return self.rows, self.delay_ms, self.store != SQLITE, self.engine != "local", self.workers

    @property
    def limit(self) -> str:
        """What is used up."""
        most = 1000 * AT_ONCE / self.delay_ms if self.delay_ms else float("inf")
        if self.speed >= _NEAR * most:
            return f"the endpoint ({self.speed / most:.0%})"
        cores = os.cpu_count() or 1
        return "the cores" if self.busy >= _NEAR * cores else "neither"


class Bench(NamedTuple):
    """Where runs are started."""

    rows: int
    endpoint: int
    """Its process."""
    ray: Any
    """The cluster; None where it is left out."""
    store: str

    def scaled(self, engine: str, workers: int, delay_ms: int) -> Scaled:
        """The measurement of one number of workers."""
        few, many = (self._taken(engine, workers, count) for count in (FEW, self.rows))
        cpu = many.cpu_s - few.cpu_s
        more = self.rows - FEW
        asked = many.endpoint_cpu_s - few.endpoint_cpu_s
        busy = (cpu + asked) / more * self.rows / many.calls_s
        speed, cpu_ms = self.rows / many.calls_s, cpu / more * 1000
        found = (speed, cpu_ms, busy, many.peak_bytes)
        return Scaled(engine, workers, delay_ms, *found, self.store, self.rows)

    def _taken(self, engine: str, workers: int, count: int) -> Taken:
        words = [*STEELYARD, "run", str(cases(count)), "--target", f"at_{AT_ONCE}"]
        words += ["--workers", str(workers), "--format", "json"]
        if engine == "ray":
            words += ["--engine", "ray", "--address", self.ray.address, "--send-env", "BENCH_URL"]
        others = [] if engine == "local" else ray_processes(self.ray)
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        with Watched([self.endpoint]) as asked, Watched(others) as ours:
            process = subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE)
            ours.add(process.pid)
            output, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(words)}")
        folder = Path(json.loads(output)["artifacts"])
        return Taken(calls_s(folder), ours.cpu_s, asked.cpu_s, ours.peak_bytes)


def calls_s(folder: Path) -> float:
    """Seconds from the first call of a run to its last."""
    with (folder / "attempt_logs.jsonl").open("rb") as stream:
        times = [datetime.fromisoformat(json.loads(line)["at"]) for line in stream]
    return (max(times) - min(times)).total_seconds()


def measured(asked: argparse.Namespace) -> Iterator[Scaled]:
    """The rows that were asked for."""
    prepare()
    if asked.store:
        with (FOLDER / "steelyard.yaml").open("a", encoding="utf-8") as stream:
            stream.write(f"store: {asked.store}\n")
    with cluster(is_wanted="ray" in asked.engines) as ray:
        for delay_ms in asked.delays:
            with endpoint(delay_ms) as pid:
                bench = Bench(asked.rows, pid, ray, "PostgreSQL" if asked.store else SQLITE)
                for engine in asked.engines:
                    for workers in asked.workers:
                        yield bench.scaled(engine, workers, delay_ms)


def kept() -> list[Scaled]:
    """What was measured before."""
    if not KEPT.exists():
        return []
    return [Scaled(**row) for row in json.loads(KEPT.read_bytes())]


def keep(new: Scaled) -> list[Scaled]:
    """Keep a measurement in place of an earlier one of the same; all, in their order."""
    rows = [*(row for row in kept() if row.which != new.which), new]
    rows.sort(key=lambda row: row.which)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(json.dumps([row._asdict() for row in rows], indent=1), encoding="utf-8")
    return rows


@contextmanager
def endpoint(delay_ms: int) -> Generator[int]:
    """The process of an endpoint, whose address is in the environment."""
    words = [sys.executable, "-m", "bench.openai_server", str(delay_ms)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        assert process.stdout
        os.environ["BENCH_URL"] = f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        yield process.pid
        process.stdin.close()


@contextmanager
def cluster(*, is_wanted: bool) -> Generator[Any]:
    """A Ray node with room for the most workers, without what is of no use to a run."""
    if not is_wanted:
        yield None
        return
    folder = tempfile.mkdtemp(prefix="ray-")
    os.environ |= {"RAY_usage_stats_enabled": "0", "RAY_TMPDIR": folder}
    utils: Any = import_module("ray.cluster_utils")
    node = {"num_cpus": max(WORKERS), "object_store_memory": _OBJECT_BYTES}
    made = utils.Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    try:
        yield made
    finally:
        with suppress(Exception):
            made.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def ray_processes(ray: Any) -> list[int]:
    """The processes of the head; those of the workers are beneath them."""
    known: dict[str, list[Any]] = ray.head_node.all_processes
    return [one.process.pid for several in known.values() for one in several]


def table(rows: Sequence[Scaled], count: int) -> str:
    """The measurements in Markdown."""
    alone = {
        (row.delay_ms, row.store): row for row in rows if (row.engine, row.workers) == ("local", 1)
    }
    reduced = "" if count == ROWS else f"; a reduced size, {ROWS:,} records are meant"
    how = (
        f"Measured by `python -m bench.scale --rows {count}`: {machine()}; one run each of "
        f"{FEW:,} and of {count:,} records, {AT_ONCE} at once{reduced}. Endpoint, run and store "
        "share the cores; what a server of PostgreSQL takes is in no figure. Ray: one node with "
        "a CPU per worker; its own processes are in its figures."
    )
    lines = [
        how,
        "",
        f"| {' | '.join(_HEAD)} |",
        f"|{'---|' * len(_HEAD)}",
        *(_line(row, alone.get((row.delay_ms, row.store))) for row in rows),
    ]
    return "\n".join(lines)


def _line(row: Scaled, alone: Scaled | None) -> str:
    beside = "–"
    if alone:
        speed, cpu = row.speed / alone.speed, row.cpu_ms / alone.cpu_ms
        beside = f"{speed:.2f} × the speed, {cpu:.2f} × the CPU"
    one = "one process" if row.workers == 1 else f"{row.workers} processes"
    who = one if row.engine == "local" else f"Ray, {row.workers}"
    cells = (
        f"{row.delay_ms} ms",
        row.store,
        who,
        f"**{row.speed:,.0f}**",
        f"{row.cpu_ms:.3f} ms",
        beside,
        f"{row.peak_bytes / 1e6:,.0f} MB",
        row.limit,
    )
    return f"| {' | '.join(cells)} |"


def main(words: Sequence[str]) -> None:
    """Measure, print, and put the table between its marks on the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale")
    parser.add_argument("--rows", type=int, default=ROWS, help="records of the long runs")
    parser.add_argument("--store", help="the project's `store`, as postgresql://…; default SQLite")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--delays", nargs="+", type=int, choices=DELAYS_MS, default=DELAYS_MS)
    parser.add_argument("--workers", nargs="+", type=int, choices=WORKERS, default=WORKERS)
    parser.add_argument("--dry", action="store_true", help="leave the page as it is")
    asked = parser.parse_args(words)
    for row in measured(asked):
        print(row, row.limit, flush=True)
        keep(row)
    text = table([row for row in kept() if row.rows == asked.rows], asked.rows)
    print(text)
    if not asked.dry:
        write_section("scale", text)


if __name__ == "__main__":
    main(sys.argv[1:])
