"""What a record costs in `steelyard run`, beside the loop a user would write.

Both ask the same endpoint for the same records. What a process costs to start is in neither
number: each is the difference between 10,000 and 2,000 records, divided by 8,000. Run it with
`python -m bench.engine`; `python -m bench.engine --rows 1000000` measures a long recorded run
and the commands that read it instead, `--workers` two processes alone, and `--shapes` runs of
every contract and kind of grading (`--shapes judged jury` those two), beside a loop that only asks
as often and reads (`bench/asking_loop.py`). Each of these changes its own rows of the page.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.child import ROOT, STEELYARD, Cost, medians, run
from bench.page import machine, section, write_section
from bench.shapes import Shape, dataset, run_words, shapes, write_project

FOLDER = ROOT / "bench" / "data" / "engine"
TIMES = 3
WORKER_TIMES = 5
"""More: four processes on two cores are at the mercy of who runs when."""
FEW, MANY = 2_000, 10_000
ROWS = (50_000, 200_000)
LONG = (2_000, 12_000)
CASES = ((0, 64), (0, 256), (50, 64), (50, 256))
"""Milliseconds until an answer, and calls at once."""
_SETTINGS = """\
targets:
  at_64: {provider: openai, base_url: "${BENCH_URL}", model: bench-1, max_concurrency: 64}
  at_256: {provider: openai, base_url: "${BENCH_URL}", model: bench-1, max_concurrency: 256}
"""


class Row(NamedTuple):
    """One row of the table."""

    what: str
    measured: str
    goal: str
    first_bar: str


class Marginal(NamedTuple):
    """What one record more costs."""

    cpu_ms: float
    wall_ms: float


def results() -> Iterator[Row]:
    """Every measurement, in the order of the table."""
    prepare()
    for delay_ms, at_once in CASES:
        yield from asked_results(delay_ms, at_once)
    yield worker_result()
    yield small_result()
    yield recorded_result()
    yield from shape_results(tuple(shapes()), FEW, MANY, TIMES)


def asked_results(delay_ms: int, at_once: int) -> Iterator[Row]:
    """CPU and speed of one record more, and of the same record in a bare loop."""
    ours, bare = marginals(delay_ms, at_once)
    where = f"{at_once} at once, answers after {delay_ms} ms"
    yield Row(
        f"CPU a record, {where}: against a bare aiohttp loop",
        f"**{ours.cpu_ms / bare.cpu_ms:.2f} ×** ({ours.cpu_ms:.3f} ms to {bare.cpu_ms:.3f} ms)",
        "≤ 1.0 ×",
        "≤ 2.0 ×",
    )
    if delay_ms:
        limit = 1000 * at_once / delay_ms
        speeds = [1000 / found.wall_ms for found in (ours, bare)]
        yield Row(
            f"records a second, {where}: against the limit of {limit:,.0f}",
            f"**{speeds[0] / limit:.0%}** ({speeds[0]:,.0f}; bare loop {speeds[1]:,.0f})",
            "≥ 95 %",
            "≥ 80 %",
        )


def marginals(delay_ms: int, at_once: int) -> tuple[Marginal, Marginal]:
    """What one record more costs us, and what it costs the bare loop."""
    with endpoint(delay_ms) as url:
        os.environ["BENCH_URL"] = url
        few, many = cases(FEW), cases(MANY)
        ours = (*STEELYARD, "run", "--target", f"at_{at_once}", "--format", "json")
        bare = (sys.executable, "-m", "bench.bare_loop")
        cost = medians(
            {
                "our few": (*ours, few),
                "bare few": (*bare, few, url, str(at_once)),
                "our many": (*ours, many),
                "bare many": (*bare, many, url, str(at_once)),
            },
            TIMES,
        )
    return (
        marginal(cost["our few"], cost["our many"]),
        marginal(cost["bare few"], cost["bare many"]),
    )


def marginal(few: Cost, many: Cost) -> Marginal:
    """One record's part in the difference of two runs."""
    count = (MANY - FEW) / 1000
    return Marginal((many.cpu_s - few.cpu_s) / count, (many.wall_s - few.wall_s) / count)


def worker_result() -> Row:
    """How much of what an endpoint allows two processes use."""
    delay_ms, at_once = CASES[-1]
    limit = 1000 * at_once / delay_ms
    with endpoint(delay_ms) as url:
        os.environ["BENCH_URL"] = url
        words = (*STEELYARD, "run", "--target", f"at_{at_once}", "--workers", "2")
        many = {str(count): (*words, "--format", "json", cases(count)) for count in LONG}
        cost = medians(many, WORKER_TIMES)
    few_cost, many_cost = (cost[str(count)] for count in LONG)
    speed = (LONG[1] - LONG[0]) / (many_cost.wall_s - few_cost.wall_s)
    cpu_ms = (many_cost.cpu_s - few_cost.cpu_s) / (LONG[1] - LONG[0]) * 1000
    return Row(
        f"records a second, {at_once} at once, answers after {delay_ms} ms, two workers: against "
        f"the limit of {limit:,.0f}",
        f"**{speed / limit:.0%}** ({speed:,.0f}; {cpu_ms:.3f} ms of CPU a record)",
        "≥ 95 %",
        "≥ 80 %",
    )


def shape_results(names: Sequence[str], few: int, many: int, times: int) -> Iterator[Row]:
    """What each shape costs, beside a loop that asks as often and does nothing else."""
    known = shapes()
    with endpoint(0) as url:
        for name in names:
            folder = FOLDER / "shapes" / name
            write_project(known[name], folder, url, (few, many))
            words: dict[str, tuple[str | Path, ...]] = {}
            for count in (few, many):
                words[f"our {count}"] = shape_run(known[name], folder, count)
                loop = (sys.executable, "-m", "bench.asking_loop", name, str(count), url)
                words[f"loop {count}"] = loop
            yield shape_row(known[name], few, many, medians(words, times, folder))


def shape_run(shape: Shape, folder: Path, count: int) -> tuple[str | Path, ...]:
    """The command that runs so many records of a shape."""
    words = ("run", dataset(shape, folder, count), *run_words(shape), "--format", "json")
    return (*STEELYARD, *words)


def shape_row(shape: Shape, few: int, many: int, cost: Mapping[str, Cost]) -> Row:
    """CPU of one record more, and of the same calls in a loop."""
    ours, bare = (
        (cost[f"{who} {many}"].cpu_s - cost[f"{who} {few}"].cpu_s) / (many - few) * 1000
        for who in ("our", "loop")
    )
    return Row(
        f"{shape.what}: CPU a record against a loop that only asks and reads",
        f"**{ours / bare:.2f} ×** ({ours:.3f} ms to {bare:.3f} ms)",
        "≤ 1.0 ×",
        "≤ 1.7 ×",
    )


def small_result() -> Row:
    """How long a user waits for ten records."""
    with endpoint(0) as url:
        os.environ["BENCH_URL"] = url
        words = ("run", cases(10), "--target", "at_64", "--format", "json")
        cost = medians({"ten": (*STEELYARD, *words)}, 2 * TIMES + 1)["ten"]
    measured = f"**{cost.wall_s:.2f} s** ({cost.cpu_s:.2f} s of CPU, {_mb(cost)})"
    return Row("a run of 10 records, whole process", measured, "≤ 0.5 s", "≤ 0.8 s")


def recorded_result() -> Row:
    """The memory of long runs from recorded responses."""
    few, many = (
        run(*STEELYARD, "run", cases(rows), "--responses", responses(rows), "--format", "json")
        for rows in ROWS
    )
    cpu_ms = (many.cpu_s - few.cpu_s) / (ROWS[1] - ROWS[0]) * 1000
    return Row(
        f"peak memory of a recorded run of {ROWS[0]:,} and of {ROWS[1]:,} rows",
        f"**{_mb(few)} and {_mb(many)}** ({cpu_ms:.3f} ms of CPU a row)",
        "< 400 MB and flat",
        "–",
    )


def long_results(rows: int) -> Iterator[Row]:
    """Whether a row costs the same in a run that is much longer, and what reading it takes."""
    few = ROWS[1]
    cost: dict[int, Cost] = {}
    read = Row("", "", "", "")
    for count in (few, rows):
        words = ("run", cases(count), "--responses", responses(count), "--format", "json")
        cost[count] = run(*STEELYARD, *words)
        if count == rows:
            read = reading_result(count)
        shutil.rmtree(FOLDER / ".steelyard")
    many_ms, few_ms = (cost[count].cpu_s / count * 1000 for count in (rows, few))
    yield Row(
        f"CPU a row of a recorded run of {rows:,} rows: against one of {few:,}",
        f"**{many_ms / few_ms:.2f} ×** ({many_ms:.3f} ms to {few_ms:.3f} ms; "
        f"{cost[rows].wall_s:.0f} s and {_mb(cost[rows])} to {_mb(cost[few])})",
        "≤ 1.1 × and < 400 MB",
        "–",
    )
    yield read


def reading_result(rows: int) -> Row:
    """The memory of the commands that read the one run there is."""
    folder = next((FOLDER / ".steelyard" / "runs").iterdir())
    wanted: dict[str, tuple[str | Path, ...]] = {
        "show": ("show", folder),
        "show of one record": ("show", folder, f"case-{rows // 2:06d}"),
        "export": ("export", folder, "-o", FOLDER / "export.jsonl"),
        "export to CSV": ("export", folder, "--to", "csv", "-o", FOLDER / "export.csv"),
        "report": ("report", folder, "-o", FOLDER / "report.html"),
    }
    cost = {name: run(*STEELYARD, *words) for name, words in wanted.items()}
    parts = "; ".join(f"{name} {_mb(one)}, {one.cpu_s:.0f} s of CPU" for name, one in cost.items())
    largest = max(one.peak_bytes for one in cost.values())
    return Row(
        f"peak memory of reading such a run of {rows:,} rows",
        f"**{largest / 1e6:.0f} MB** ({parts})",
        "< 400 MB",
        "–",
    )


def prepare() -> None:
    """A fresh project, and code that is compiled as it is for users."""
    compileall.compile_dir(str(ROOT / "src"), quiet=1)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    (FOLDER / "steelyard.yaml").write_text(_SETTINGS, encoding="utf-8")


def cases(count: int) -> Path:
    """Eval cases with one deterministic evaluator each."""
    rows = (
        {
            "id": f"case-{number:06d}",
            "expected_outcome": "Says how long a book may be kept.",
            "input_messages": [
                {"role": "user", "content": f"For how long may a member keep book {number}?"}
            ],
            "evaluators": [{"name": "weeks", "type": "contains", "value": "three weeks"}],
            "tags": ["loans"],
        }
        for number in range(count)
    )
    return _written(f"cases-{count}.jsonl", rows)


def responses(count: int) -> Path:
    """A recorded response to each of those cases."""
    said = "The loan period is three weeks; it can be extended twice unless somebody waits."
    rows = (
        {"record_id": f"case-{number:06d}", "candidate_name": "desk", "response_text": said}
        for number in range(count)
    )
    return _written(f"responses-{count}.jsonl", rows)


def _written(name: str, rows: Iterator[Mapping[str, object]]) -> Path:
    path = FOLDER / name
    if not path.exists():
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@contextmanager
def endpoint(delay_ms: int) -> Generator[str]:
    """The address of an endpoint that costs next to nothing, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.openai_server", str(delay_ms)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    with process:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        process.stdin.close()


def table(rows: Iterable[Row]) -> str:
    """The measurements in Markdown."""
    times = f"medians of {TIMES} runs, of {WORKER_TIMES} with two workers"
    lines = [
        f"Measured by `python -m bench.engine`: {machine()}; {times}.",
        "",
        "| what | measured | goal | first bar |",
        "|---|---|---|---|",
        *(line_of(row) for row in rows),
    ]
    return "\n".join(lines)


def line_of(row: Row) -> str:
    """A row of the table in Markdown."""
    return f"| {' | '.join(row)} |"


def with_row(text: str, row: Row) -> str:
    """A table in which one row is new; others stay as they are."""
    lines = text.strip("\n").splitlines()
    kept = [line for line in lines if not line.startswith(f"| {row.what} |")]
    place = next((number for number, line in enumerate(lines) if line not in kept), len(kept))
    return "\n".join((*kept[:place], line_of(row), *kept[place:]))


def main(words: Sequence[str]) -> None:
    """Measure, print, and put what was measured between its marks on the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.engine")
    parser.add_argument("--rows", type=int, help="measure a recorded run of so many rows only")
    parser.add_argument("--workers", action="store_true", help="measure two workers only")
    parser.add_argument(
        "--shapes", nargs="*", choices=shapes(), metavar="NAME", help="measure these shapes only"
    )
    parser.add_argument("--few", type=int, default=FEW, help="records of the small runs of shapes")
    parser.add_argument("--many", type=int, default=MANY, help="records of the large ones")
    parser.add_argument("--times", type=int, default=TIMES, help="how often a shape is run")
    parser.add_argument("--dry", action="store_true", help="leave the page as it is")
    asked = parser.parse_args(words)
    if asked.rows or asked.workers or asked.shapes is not None:
        prepare()
        text = section("engine")
        for row in some_results(asked):
            print(line_of(row), flush=True)
            text = with_row(text, row)
    else:
        text = table(results())
        print(text)
    if not asked.dry:
        write_section("engine", text)


def some_results(asked: argparse.Namespace) -> Iterator[Row]:
    """The rows that were asked for."""
    if asked.rows:
        yield from long_results(asked.rows)
    if asked.workers:
        yield worker_result()
    if asked.shapes is not None:
        names = asked.shapes or tuple(shapes())
        yield from shape_results(names, asked.few, asked.many, asked.times)


def _mb(cost: Cost) -> str:
    return f"{cost.peak_bytes / 1e6:.0f} MB"


if __name__ == "__main__":
    main(sys.argv[1:])
