"""Scaffold a project."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import UsageError

_FILES = {
    "steelyard.yaml": """\
# Targets are what is asked; keys are only ever named by environment variable.
targets:
  live:
    provider: openai
    base_url: ${STEELYARD_BASE_URL:-http://127.0.0.1:8080/v1}
    model: ${STEELYARD_MODEL:-my-model}
    # api_key_env: MY_KEY
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
scoring:
  combine: all_pass
""",
    ".gitignore": ".steelyard/\n",
}


def scaffold(folder: Path) -> list[Path]:
    """Write the files of a new project; one that is there already is an error before any write."""
    paths = [folder / name for name in _FILES]
    taken = [path for path in paths if path.exists()]
    if taken:
        raise UsageError(f"{taken[0]} exists already; name another folder, or remove it")
    for path, text in zip(paths, _FILES.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return paths
