"""Inspect AI: a task with `generate()` and `includes()`."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from bench.peers.environment import python_environment, python_version
from bench.peers.tool import (
    SAMPLES,
    CannotRunError,
    Command,
    Job,
    Tool,
    copy_project,
    plain_rows,
    write_samples,
)

_NAME = "inspect_ai"
_PACKAGES = ("inspect-ai", "openai")
# What its documentation and its authors name for many samples: no display, nothing live, a log
# that is written in large pieces.
_FAST = ("--display", "none", "--no-log-realtime", "--no-score-display", "--log-buffer", "1000")


def _install() -> str:
    return python_version(python_environment(_NAME, *_PACKAGES), _PACKAGES[0])


def _command(job: Job) -> Command:
    return _asked(job, "loans")


def _judged_command(job: Job) -> Command:
    judge = ("-T", f"judge={job.url}/grade", "-T", f"at_once={job.at_once}")
    return _asked(job, "judged_loans", *judge)


def _asked(job: Job, task: str, *more: str) -> Command:
    copy_project(_NAME, job.folder)
    write_samples(job.folder, plain_rows(job.samples))
    at_once = str(job.at_once)
    words = (
        *("eval", f"loans.py@{task}", "-T", f"path={SAMPLES}", *more),
        *("--model", "openai-api/bench/bench-1", "--model-base-url", job.url),
        *("--max-connections", at_once, "--max-samples", at_once),
        *("--log-dir", "logs", *_FAST),
    )
    program = python_environment(_NAME, *_PACKAGES) / "inspect"
    return Command((program, *words), {"BENCH_API_KEY": "none", "JUDGE_API_KEY": "none"})


def _passed(job: Job, _: str) -> int:
    """What its own log says; it ends with 0 even when an evaluation did not succeed."""
    log = next((job.folder / "logs").glob("*.eval"), None)
    if log is None:
        raise CannotRunError("wrote no log")
    program = python_environment(_NAME, *_PACKAGES) / "inspect"
    words = [str(program), "log", "dump", "--header-only", str(log)]
    shown = subprocess.run(words, capture_output=True, check=True, cwd=job.folder).stdout
    header: Any = json.loads(shown)
    if header["status"] != "success":
        raise CannotRunError(f"its log says {header['status']!r}")
    [score] = header["results"]["scores"]
    return round(score["scored_samples"] * score["metrics"]["accuracy"]["value"])


TOOL = Tool(
    name="Inspect AI",
    how=(
        "`inspect eval loans.py@loans` with `generate()` and `includes()`, the `openai-api` "
        "provider, `--max-connections N --max-samples N` and, for speed, `--display none "
        "--no-log-realtime --no-score-display --log-buffer 1000`"
    ),
    install=_install,
    command=_command,
    passed=_passed,
)
JUDGED = Tool(
    name=TOOL.name,
    how=(
        "as above, but with `model_graded_qa()` in place of `includes()`, and as its `model` one "
        "of the `openai-api` provider with `max_connections=N`"
    ),
    install=_install,
    command=_judged_command,
    passed=_passed,
    answers=("weeks", "grade"),
)
