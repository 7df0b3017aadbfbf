"""Ourselves, in one process and in two."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from bench.child import STEELYARD
from bench.peers.tool import (
    CRITERION,
    SAMPLES,
    WANTED,
    Command,
    Job,
    Tool,
    copy_project,
    questions,
    write_samples,
)

import steelyard

CHECK: Mapping[str, object] = {"name": "weeks", "type": "contains", "value": WANTED}
JUDGE: Mapping[str, object] = {"name": "right", "type": "llm_judge"}


def write_cases(job: Job, evaluator: Mapping[str, object]) -> None:
    """Write the samples as eval cases with one evaluator each."""
    rows = (
        {
            "id": f"case-{number:06d}",
            "expected_outcome": CRITERION,
            "input_messages": [{"role": "user", "content": question}],
            "evaluators": [evaluator],
        }
        for number, question in enumerate(questions(job.samples))
    )
    write_samples(job.folder, rows)


def _command(workers: int, evaluator: Mapping[str, object]) -> Callable[[Job], Command]:
    def command(job: Job) -> Command:
        copy_project("steelyard", job.folder)
        write_cases(job, evaluator)
        words = ("run", SAMPLES, "--target", "desk", "--max-concurrency", str(job.at_once))
        several = ("--workers", str(workers)) if workers > 1 else ()
        asked = (*STEELYARD, *words, *several, "--format", "json")
        return Command(asked, {"BENCH_URL": job.url})

    return command


def _passed(_: Job, output: str) -> int:
    return int(json.loads(output)["metrics"]["pass_count"])


TOOL = Tool(
    name="Steelyard",
    how=(
        "`steelyard run samples.jsonl --target desk --max-concurrency N`, a `contains` evaluator "
        "a case; every attempt and result durable, artifacts sealed"
    ),
    install=lambda: steelyard.__version__,
    command=_command(1, CHECK),
    passed=_passed,
)
TWO_WORKERS = Tool(
    name="Steelyard, two workers",
    how="the same with `--workers 2`; memory is that of all its processes together",
    install=lambda: steelyard.__version__,
    command=_command(2, CHECK),
    passed=_passed,
)
JUDGED = Tool(
    name=TOOL.name,
    how=(
        "`steelyard run samples.jsonl --target desk --max-concurrency N`, an `llm_judge` "
        "evaluator a case, which is the built-in judge `accuracy`; every attempt, reply and "
        "result durable, artifacts sealed; one call a run tries out whether the judge "
        "enforces a schema"
    ),
    install=TOOL.install,
    command=_command(1, JUDGE),
    passed=_passed,
    answers=("weeks", "judge"),
    once=("judge",),
)
JUDGED_TWO_WORKERS = replace(
    JUDGED, name=TWO_WORKERS.name, how=TWO_WORKERS.how, command=_command(2, JUDGE)
)
