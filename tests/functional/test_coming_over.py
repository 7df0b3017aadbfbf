"""The script that measures which share of public evaluations comes over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "coming_over.py"


def measured(folder: Path) -> list[str]:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not ran.stderr, ran.stderr
    return ran.stdout.splitlines()


def test_configurations_are_whole_partly_or_nothing_and_the_reasons_are_counted(
    tmp_path: Path,
) -> None:
    texts = {
        "whole": "prompts: Hi\nproviders: [bedrock:x]\ntests: [{assert: [{type: is-json}]}]\n",
        "partly": "prompts: Hi\ntests: [{assert: [{type: is-json}, {type: moderation}]}]\n",
        "nothing": "prompts: Hi\nredteam: {purpose: p}\n",
    }
    for name, text in texts.items():
        path = tmp_path / "promptfoo" / name / "promptfooconfig.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")

    first, *reasons = measured(tmp_path)

    assert first == ("promptfoo: 3: whole 1 (33%), partly 1 (33%), nothing 1 (33%); 2 rows")
    assert "     1  moderation no evaluator stands for it" in reasons


def test_a_registry_is_measured_with_a_stand_in_for_each_pointer(tmp_path: Path) -> None:
    registry = tmp_path / "evals" / "evals" / "registry"
    for folder in ("evals", "data"):
        (registry / folder).mkdir(parents=True)
    (registry / "data" / "a.jsonl").write_text(
        "version https://git-lfs.example/v1\noid 1\n", encoding="utf-8"
    )
    (registry / "evals" / "a.yaml").write_text(
        "a: {id: a.dev.v0}\n"
        "a.dev.v0: {class: 'evals.elsuite.basic.match:Match', args: {samples_jsonl: a.jsonl}}\n"
        "b.dev.v0: {class: 'own:Grader', args: {samples_jsonl: a.jsonl}}\n",
        encoding="utf-8",
    )

    assert measured(tmp_path) == [
        "evals: 2: whole 1 (50%), partly 0 (0%), nothing 1 (50%); 1 rows",
        "     1  it is graded by a program of its own",
    ]
