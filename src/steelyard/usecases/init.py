"""Scaffold a project."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import ConflictError

_FILES = {
    "steelyard.yaml": """\
# Targets are what is asked; keys are only ever named by environment variable.
targets:
  live:
    provider: openai
    base_url: ${MODEL_URL:-http://127.0.0.1:8080/v1}
    model: ${MODEL_NAME:-my-model}
    # api_key_env: MY_KEY
# Which target answers as a judge is never guessed:
# judges: {default: {target: live}}
slices: [tags]
""",
    "datasets/first.yaml": """\
description: The first cases; replace them with your own.
dataset: first
evalcases:
  - id: greeting
    expected_outcome: Greets back politely.
    input_messages:
      - role: user
        content: Hello there!
    tags: [manners]
  - id: capital
    expected_outcome: Names the capital of France.
    input_messages:
      - role: user
        content: What is the capital of France? Answer with Paris.
    expected_messages:
      - role: assistant
        content: Paris
    tags: [facts]
""",
    "rubrics/first.yaml": """\
id: first
version: 1.0.0
description: Deterministic checks to start with.
checks:
  - id: says_something_expected
    kind: must_contain_any
    phrases: [hello, Paris]
  - id: no_apology
    kind: must_not_contain
    phrases: [as an AI]
  # A judge grades what no phrase can tell, once steelyard.yaml says which target answers as one:
  # - {id: helpful, kind: llm_judge, judge_prompt_ref: judge/helpful@1.0}
scoring:
  combine: all_pass
""",
    "judges/helpful.yaml": """\
id: helpful
version: 1.0.0
description: Whether an answer helps whoever asked.
score_type: binary
template: |
  Question:
  {{ input }}

  Answer:
  {{ output }}

  Does the answer help whoever asked? A polite refusal does not.
""",
}
_IGNORED = ".gitignore"
_RUNS = ".steelyard/"


def scaffold(folder: Path) -> list[Path]:
    """Write the files of a new project; an existing file is an error before any write.

    An existing `.gitignore` is kept.
    """
    taken = [folder / name for name in _FILES if (folder / name).exists()]
    if taken:
        raise ConflictError(f"{taken[0]} exists already; name another folder, or remove it")
    ignored = {} if (folder / _IGNORED).exists() else {_IGNORED: f"{_RUNS}\n"}
    written: list[Path] = []
    for name, text in {**_FILES, **ignored}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def unignored(folder: Path) -> Path | None:
    """The existing `.gitignore`, if it does not ignore `.steelyard/`."""
    path = folder / _IGNORED
    lines = path.read_text(encoding="utf-8", errors="replace").split()
    return None if {_RUNS, _RUNS[:-1], f"/{_RUNS}"} & set(lines) else path
