"""Ourselves, in one process and in two."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.child import STEELYARD
from bench.peers.tool import (
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


def write_cases(job: Job) -> None:
    """Write the samples as eval cases with one check each."""
    rows = (
        {
            "id": f"case-{number:06d}",
            "expected_outcome": "Says how long a book may be kept.",
            "input_messages": [{"role": "user", "content": question}],
            "evaluators": [{"name": "weeks", "type": "contains", "value": WANTED}],
        }
        for number, question in enumerate(questions(job.samples))
    )
    write_samples(job.folder, rows)


def _command(workers: int) -> Callable[[Job], Command]:
    def command(job: Job) -> Command:
        copy_project("steelyard", job.folder)
        write_cases(job)
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
    command=_command(workers=1),
    passed=_passed,
)
TWO_WORKERS = Tool(
    name="Steelyard, two workers",
    how="the same with `--workers 2`; memory is that of all its processes together",
    install=lambda: steelyard.__version__,
    command=_command(workers=2),
    passed=_passed,
)
