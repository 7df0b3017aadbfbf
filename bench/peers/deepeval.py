"""DeepEval: a loop that asks, then `evaluate()` with its `PatternMatchMetric`."""

from __future__ import annotations

import re

from bench.child import ROOT
from bench.peers.environment import python_environment, python_version
from bench.peers.tool import (
    SAMPLES,
    Command,
    Job,
    Tool,
    copy_project,
    plain_rows,
    write_samples,
)

_NAME = "deepeval"
_PACKAGES = ("deepeval", "aiohttp")


def _install() -> str:
    return python_version(python_environment(_NAME, *_PACKAGES), _PACKAGES[0])


def _command(job: Job) -> Command:
    return _asked(job)


def _judged_command(job: Job) -> Command:
    return _asked(job, f"{job.url}/geval")


def _asked(job: Job, *judge: str) -> Command:
    copy_project(_NAME, job.folder)
    write_samples(job.folder, plain_rows(job.samples))
    python = python_environment(_NAME, *_PACKAGES) / "python"
    settings = {
        "PYTHONPATH": str(ROOT),
        "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
        "DEEPEVAL_DISABLE_DOTENV": "1",
    }
    return Command((python, "loans.py", SAMPLES, job.url, str(job.at_once), *judge), settings)


def _passed(_: Job, output: str) -> int:
    found = re.search(r"(\d+) of \d+ passed", output)
    return int(found[1]) if found else 0


TOOL = Tool(
    name="DeepEval",
    how=(
        "it leaves the asking to its user, so the bare loop asks; then `evaluate()` grades with "
        "`PatternMatchMetric`, `AsyncConfig(max_concurrent=N)`, no indicator, no printed results, "
        "`CacheConfig(write_cache=False)` and a `results_folder`"
    ),
    install=_install,
    command=_command,
    passed=_passed,
)
JUDGED = Tool(
    name=TOOL.name,
    how=(
        "as above, but with `GEval`, its `evaluation_steps` given, so that it makes one call a "
        "sample, and its `LocalModel` as the judge"
    ),
    install=_install,
    command=_judged_command,
    passed=_passed,
    answers=("weeks", "geval"),
)
