"""What the statistics cost: metrics of a million records, and a comparison of two runs.

Run it with `python -m bench.stats`. Each measurement is a process of its own, so that its memory
is its own too.
"""

from __future__ import annotations

import json
import random
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
        "–" if shape else "≤ 4 s",
        "–" if shape else "≤ 10 s, < 600 MB",
    )


def comparison_result() -> Row:
    """`compare` over two runs from their folders, whole process."""
    runs = [_run(FOLDER / name, seed) for name, seed in (("a", 1), ("b", 2))]
    found = medians({"compare": (*STEELYARD, "compare", *map(str, runs))}, TIMES)
    cost = found["compare"]
    return Row(
        f"`compare` of two runs of {COMPARED:,} records, 20 slices: whole process",
        f"**{cost.wall_s:.1f} s** ({cost.cpu_s:.1f} s of CPU, {cost.peak_bytes / 1e6:.0f} MB)",
        "≤ 1 s",
        "≤ 3 s",
    )


def _run(folder: Path, seed: int) -> Path:
    """A run's folder, as far as a comparison reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    with (folder / "predictions.jsonl").open("w", encoding="utf-8") as stream:
        for index in range(COMPARED):
            passed = chance.random() < 0.7 + 0.01 * seed
            row = {
                "index": index,
                "record_id": f"q{index}",
                "record_sha256": f"{index:064x}",
                "repeat": 0,
                "status": "evaluated",
                "evaluator_scores": [{"check": "right", "score": float(passed)}],
                "model_response": "An answer of some length. " * 8,
                "trace": {"messages": [{"role": "assistant", "content": "An answer. " * 20}]},
                "score": float(passed),
                "passed": passed,
                "reason": "right: does not contain 'yes'",
                "slices": {"tags": [f"topic-{index % 20}"]},
            }
            stream.write(json.dumps(row) + "\n")
    manifest: dict[str, object] = {
        "run_id": folder.name,
        "dataset_id": "bench",
        "targets": {folder.name: None},
        "rubrics": [],
        "judges": [],
    }
    (folder / "run_manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "metrics_summary.json").write_text("{}", encoding="utf-8")
    (folder / "metrics_by_slice.json").write_text('{"slices": []}', encoding="utf-8")
    return folder


def main() -> None:
    """Measure, print each row as it comes, and write the page."""
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
