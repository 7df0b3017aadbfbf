"""What the statistics cost: metrics of a million records, and a comparison of two runs.

Run it with `python -m bench.stats`. Each measurement is a process of its own, so that its memory
is its own too.
"""

from __future__ import annotations

import compileall
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.child import ROOT, STEELYARD, medians
from bench.page import machine, write_section

FOLDER = ROOT / "bench" / "data" / "stats"
RECORDS, SLICES = 1_000_000, 200
COMPARED = 50_000
TIMES = 3
_METRICS = """
import random
from steelyard.results.facts import CheckFact, Facts
from steelyard.results.question_facts import QuestionFact
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.model.run import Judging

def facts(count, slices, repeats=1, talk=0, graded=False, judged=False):
    chance = random.Random(7)
    names = [(("tags", f"topic-{k}"),) for k in range(slices)]
    judging = Judging(calls=1, attempts=1, input_tokens=400, output_tokens=60) if judged else None
    for row in range(count):
        index = row // repeats
        passed = chance.random() < 0.7
        score = chance.random() if graded else float(passed)
        asked = {"right": (QuestionFact("kind", "yes_no", "a", (int(passed),)),)} if judged else {}
        yield Facts(
            index=index, repeat=row % repeats, status="evaluated", attempts=1, answered=True,
            score=score, raw_score=score, passed=passed,
            latency_ms=chance.random() * 900, input_tokens=90, output_tokens=12, cost_usd=None,
            cluster=f"talk {index // talk}" if talk else None, slices=names[index % slices],
            checks=(CheckFact("right", "equals", "scored", score, passed),),
            questions=asked, judging=judging,
        )

made = facts(COUNT, SLICES, **SHAPE)
if RUN == "metrics":
    metrics_of(made)
else:
    for _ in made:
        pass
"""
SHAPES: dict[str, dict[str, object]] = {
    "": {},
    ", in conversations of 5": {"talk": 5},
    ", of 200,000 asked 5 times each": {"repeats": 5},
    ", a million different scores": {"graded": True},
    ", judged by one question each": {"judged": True},
}
"""The kinds of runs whose metrics are measured."""


class Row(NamedTuple):
    """One row of the table."""

    what: str
    measured: str
    goal: str
    first_bar: str


def results() -> Iterator[Row]:
    """Every measurement, in the order of the table."""
    for name, shape in SHAPES.items():
        yield metrics_result(name, shape)
    yield comparison_result()


def metrics_result(name: str, shape: dict[str, object]) -> Row:
    """Metrics of a million rows; what it costs to make the facts is taken off."""
    code = f"COUNT, SLICES, SHAPE = {RECORDS}, {SLICES}, {shape}\n{_METRICS}"
    found = medians(
        {
            name: (sys.executable, "-c", f"RUN = {name!r}\n{code}")
            for name in ("metrics", "nothing")
        },
        TIMES,
    )
    seconds = found["metrics"].cpu_s - found["nothing"].cpu_s
    return Row(
        f"metrics of {RECORDS:,} records with {SLICES} slices{name}, intervals and all: CPU",
        f"**{seconds:.1f} s**, {found['metrics'].peak_bytes / 1e6:.0f} MB at most",
        "≤ 2 s",
        "≤ 4 s, < 600 MB",
    )


def comparison_result() -> Row:
    """`compare` over two runs from their folders, whole process."""
    runs = [_run(seed) for seed in (1, 2)]
    found = medians({"compare": (*STEELYARD, "compare", *map(str, runs))}, TIMES)
    cost = found["compare"]
    return Row(
        f"`compare` of two runs of {COMPARED:,} records, 20 slices: whole process",
        f"**{cost.wall_s:.1f} s** ({cost.cpu_s:.1f} s of CPU, {cost.peak_bytes / 1e6:.0f} MB)",
        "≤ 1 s",
        "≤ 1.5 s",
    )


def _run(seed: int) -> Path:
    """The folder of a finished run of recorded responses."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    chance, data = random.Random(seed), FOLDER / "cases.jsonl"
    responses = FOLDER / f"responses-{seed}.jsonl"
    checks = [{"name": "right", "type": "contains", "value": "yes"}]
    with (
        data.open("w", encoding="utf-8") as cases,
        responses.open("w", encoding="utf-8") as answers,
    ):
        for index in range(COMPARED):
            said = "yes" if chance.random() < 0.7 + 0.01 * seed else "no"
            case = {"id": f"q{index}", "input": f"Question {index}?", "expected_outcome": "Yes."}
            case |= {"evaluators": checks, "tags": [f"topic-{index % 20}"]}
            answer = {"record_id": f"q{index}", "response_text": f"{said}. " + "An answer. " * 20}
            cases.write(json.dumps(case) + "\n")
            answers.write(json.dumps(answer) + "\n")
    asked = ("run", data, "--responses", responses, "--format", "json")
    done = subprocess.run(
        [*STEELYARD, *map(str, asked)], cwd=FOLDER, check=True, capture_output=True
    )
    return Path(json.loads(done.stdout)["artifacts"])


def main() -> None:
    """Measure, print each row as it comes, and write the page; code is compiled as for users."""
    compileall.compile_dir(str(ROOT / "src"), quiet=1)
    rows: list[Row] = []
    for row in results():
        print(f"{row.what}: {row.measured} (goal {row.goal})", flush=True)
        rows.append(row)
    lines = [
        f"Measured by `python -m bench.stats`: {machine()}; medians of {TIMES} runs.",
        "",
        "| what | measured | goal | first bar |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    write_section("stats", "\n".join(lines))


if __name__ == "__main__":
    main()
