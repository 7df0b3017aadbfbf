"""lm-evaluation-harness: a `generate_until` task of its own format."""

from __future__ import annotations

import json
from typing import Any

from bench.peers.environment import python_environment, python_version
from bench.peers.tool import (
    CannotRunError,
    Command,
    Job,
    Tool,
    copy_project,
    plain_rows,
    write_samples,
)

_NAME = "lm_eval"
_PACKAGES = ("lm-eval[api]",)


def _install() -> str:
    return python_version(python_environment(_NAME, *_PACKAGES), "lm-eval")


def _command(job: Job) -> Command:
    copy_project(_NAME, job.folder)
    write_samples(job.folder, plain_rows(job.samples))
    model = f"model=bench-1,base_url={job.url}/chat/completions,num_concurrent={job.at_once}"
    words = (
        *("run", "--tasks", "loans", "--include_path", "."),
        *("--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"),
        *("--output_path", "results", "--log_samples"),
    )
    program = python_environment(_NAME, *_PACKAGES) / "lm-eval"
    caches = {"HF_HOME": str(job.folder / "cache"), "HF_HUB_OFFLINE": "1"}
    return Command((program, *words), {"OPENAI_API_KEY": "none", **caches})


def _passed(job: Job, _: str) -> int:
    written = next((job.folder / "results").glob("*/results_*.json"), None)
    if written is None:
        raise CannotRunError("wrote no results")
    found: Any = json.loads(written.read_text(encoding="utf-8"))["results"]["loans"]
    return round(found["sample_len"] * found["contains,none"])


TOOL = Tool(
    name="lm-eval",
    how=(
        "`lm-eval run --model local-chat-completions --apply_chat_template --log_samples` with "
        "`num_concurrent=N`, a `generate_until` task over a JSON file and a `process_results` "
        "that looks for the target"
    ),
    install=_install,
    command=_command,
    passed=_passed,
)
