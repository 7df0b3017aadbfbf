"""promptfoo: a configuration with a `contains` assertion."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing

from bench.peers.environment import node_environment, node_version
from bench.peers.tool import (
    CannotRunError,
    Command,
    Job,
    Tool,
    copy_project,
    questions,
    write_samples,
)

_NAME = "promptfoo"
# The Node.js that its documentation recommends, whatever this machine has.
_PACKAGES = ("node@24", "promptfoo@latest")
_QUIET = ("--no-cache", "--no-table", "--no-progress-bar", "--no-share")


def _install() -> str:
    programs = node_environment(_NAME, *_PACKAGES)
    asked = ["node", "--version"]
    done = subprocess.run(asked, env={"PATH": _path()}, capture_output=True, text=True, check=True)
    node = done.stdout.strip().removeprefix("v")
    return f"{node_version(programs, 'promptfoo')}, Node.js {node}"


def _path() -> str:
    programs = node_environment(_NAME, *_PACKAGES)
    return f"{programs}{os.pathsep}{os.environ['PATH']}"


def _command(job: Job) -> Command:
    return _asked(job, "promptfooconfig.yaml")


def _judged_command(job: Job) -> Command:
    return _asked(job, "judged.yaml")


def _asked(job: Job, config: str) -> Command:
    copy_project(_NAME, job.folder)
    write_samples(job.folder, ({"vars": {"input": text}} for text in questions(job.samples)))
    programs = node_environment(_NAME, *_PACKAGES)
    words = ("eval", "--config", config, "--max-concurrency", str(job.at_once), *_QUIET)
    settings = {
        "BENCH_URL": job.url,
        "OPENAI_API_KEY": "none",
        "PATH": _path(),
        "PROMPTFOO_CONFIG_DIR": str(job.folder / "home"),
        "PROMPTFOO_DISABLE_DEBUG_LOG": "1",
        "PROMPTFOO_DISABLE_ERROR_LOG": "1",
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
    }
    return Command((programs / "promptfoo", *words), settings)


def _passed(job: Job, _: str) -> int:
    """What its database holds; what it prints at the end is sometimes lost."""
    path = job.folder / "home" / "promptfoo.db"
    if not path.exists():
        raise CannotRunError("wrote no database")
    with closing(sqlite3.connect(path)) as database:
        asked = "select count(distinct test_idx) from eval_results where success = 1"
        return int(database.execute(asked).fetchone()[0])


TOOL = Tool(
    name="promptfoo",
    how=(
        "`promptfoo eval --max-concurrency N --no-cache --no-table --no-progress-bar --no-share` "
        "with an `openai:chat` provider and a `contains` assertion; results in its database; "
        "telemetry, update check and log files off"
    ),
    install=_install,
    command=_command,
    passed=_passed,
)
JUDGED = Tool(
    name=TOOL.name,
    how=(
        "as above, but with an `llm-rubric` assertion whose provider is `openai:chat` at another "
        "address"
    ),
    install=_install,
    command=_judged_command,
    passed=_passed,
    answers=("weeks", "criterion"),
)
