"""What judges are asked about recorded conversations, from the command line to the answers."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., subprocess.CompletedProcess[str]]
PROJECT = """\
targets:
  judge: {provider: python, callable: "people:judge"}
judges:
  default: {target: judge}
"""
PEOPLE = """\
import json
import re


def judge(prompt: str) -> str:
    with open("prompts.txt", "a", encoding="utf-8") as kept:
        kept.write(prompt)
    keys = re.findall('under the key "([a-z0-9_]+)"', prompt)
    parts = {"evidence": "", "reasoning": "", "value": 1}
    return json.dumps({"answers": {key: parts for key in keys}})
"""
TALK = [
    {"role": "user", "content": "When do you open?"},
    {"role": "assistant", "content": "In which town?"},
    {"role": "user", "content": "In Rome."},
    {"role": "assistant", "content": "At nine."},
]


def judged(
    steelyard: Command, root: Path, rubric: str, name: str, case: dict[str, Any], *words: str
) -> tuple[dict[str, Any], str]:
    """The prediction of one case under a rubric, and all that the judge was sent."""
    files = {
        "steelyard.yaml": PROJECT,
        "people.py": PEOPLE,
        "rubrics/r.yaml": rubric,
        "judges/form.yaml": "id: form\nversion: 1.0.0\nscore_type: binary\ntemplate: >-\n"
        "  {{#expected}}In the form {{ format }}?{{/expected}} {{ output }}\n",
        "talk.jsonl": json.dumps({"id": "a", "expected_outcome": "Helps.", **case}) + "\n",
        "set.json": json.dumps(
            {"id": "s", "version": "1.0.0", "questions": [{"id": "a", **case}]}
        ),
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    done = steelyard("run", *words, "--rubric", name, "--format", "json", cwd=root)
    assert done.returncode == 0, done.stderr
    folder = Path(json.loads(done.stdout)["artifacts"])
    row = json.loads((folder / "predictions.jsonl").read_text(encoding="utf-8"))
    return row, (root / "prompts.txt").read_text(encoding="utf-8")


def test_every_turn_of_a_recorded_conversation_is_asked_about(
    steelyard: Command, tmp_path: Path
) -> None:
    rubric = """\
name: Turns
version: turns-v1
questions:
  - {key: effort, label: How much effort?, type: score, scope: turn, scale: {min: 0, max: 100}}
"""
    words = ("talk.jsonl", "--responses", "conversation")
    row, prompts = judged(steelyard, tmp_path, rubric, "rubric/turns-v1", {"input": TALK}, *words)

    assert row["evaluator_scores"][0]["answers"]["turns"] == {
        "turn_1": {"effort": 1},
        "turn_2": {"effort": 1},
    }
    assert row["model_response"] == "At nine."
    assert "an integer from 0 to 100," in prompts
    assert "worst" not in prompts


def test_dimensions_in_any_script_are_asked(steelyard: Command, tmp_path: Path) -> None:
    rubric = "{name: 质量, version: quality-v1, dimensions: [准确性, Tone]}\n"
    words = ("talk.jsonl", "--responses", "conversation")
    row, prompts = judged(
        steelyard, tmp_path, rubric, "rubric/quality-v1", {"input": TALK}, *words
    )

    assert row["evaluator_scores"][0]["answers"]["trace"] == {"dimension_1": 1, "tone": 1}
    assert "准确性" in prompts


def test_a_section_of_a_template_enters_its_object(steelyard: Command, tmp_path: Path) -> None:
    rubric = """\
id: r
version: 1.0.0
checks: [{id: form, kind: llm_judge, judge_prompt_ref: judge/form@1.0.0}]
scoring: {combine: all_pass}
"""
    case = {"input": "Hello", "expected": {"format": "text"}}
    words = ("set.json", "--target", "echo")
    row, prompts = judged(steelyard, tmp_path, rubric, "rubric/r@1.0.0", case, *words)

    assert row["passed"] is True
    assert re.search(r"In the form \[\[material \w+\]\]\ntext\n", prompts)
