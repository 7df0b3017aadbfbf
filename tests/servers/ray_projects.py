"""The project of the trials on Ray, and what its runs have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from steelyard.results.artifacts import ARTIFACTS

COUNT = 300
PASSED = COUNT - len(range(0, COUNT, 7))
JUDGED = 120
GRADED = 60
"""So many of them are graded by a program, too."""
REPEATS = 2
SHOWN = 8
"""So many show files that are hidden or lie outside the project."""
NEAR = 20
"""So many are asked of the target that one node is for."""
NINE = "It opens at nine."
AGENT = """\
import json, os, time
from questions import ANSWER
from steelyard import Case

def answer(prompt):
    note("calls", prompt)
    return ANSWER

def near(prompt):
    return os.environ.get("TRIAL_NODE", "elsewhere")

def desk(case: Case):
    note("calls", case.id)
    text = ANSWER if int(case.id[1:]) % 7 else "It is closed."
    call = {"id": "c", "tool": "hours", "input": {"day": 7}, "output": "nine"}
    return {"messages": [{"role": "assistant", "content": text, "tool_calls": [call]}]}

def strict(prompt):
    note("judged", "strict")
    return reply(int(ANSWER in prompt))

def mild(prompt):
    note("judged", "mild")
    return reply(1)

def reply(value):
    said = {"evidence": "", "reasoning": "So it is.", "value": value}
    return json.dumps({"answers": {"score": said}})

def note(kind, text):
    with open(os.environ["TRIAL_NOTES"] + kind, "a") as stream:
        stream.write(f"{os.getpid()} {text!r}\\n")
    while is_held(kind):
        time.sleep(0.02)

def is_held(kind):
    try:
        with open(os.environ["TRIAL_NOTES"] + "hold") as hold:
            held, free = hold.read().split()
        with open(os.environ["TRIAL_NOTES"] + kind) as made:
            return kind == held and len(made.readlines()) > int(free)
    except FileNotFoundError:
        return False
"""
GRADER = """\
import json, sys
said = json.load(sys.stdin)["candidate_answer"]
print(json.dumps({"score": float("nine" in said), "reasoning": "It has looked."}))
"""
SETTINGS = """\
targets:
  agent: {provider: python, callable: "agent:answer", max_concurrency: 16}
  here: {provider: python, callable: "here:answer"}
  near: {provider: python, callable: "agent:near", resources: {near_model: 1}}
  desk: {provider: python, callable: "agent:desk", max_concurrency: 16}
  strict: {provider: python, callable: "agent:strict", max_concurrency: 16, unsupported: omit}
  mild: {provider: python, callable: "agent:mild", max_concurrency: 16, unsupported: omit}
judges: {default: {target: strict}}
allow: {commands: true, dot_files: true, folders: [../shared]}
"""
HERE = """\
import os

if "steelyard-part-" in os.getcwd():
    raise RuntimeError("there is no model on this machine")

def answer(prompt):
    return ""
"""
JUDGE = """\
id: right
version: 1.0.0
score_type: binary
template: "Is this right? {{ input }} {{ output }}"
"""
JURY = """\
id: jury
version: 1.0.0
checks:
  - {id: says, kind: contains_all, phrases: [It]}
  - id: jury
    kind: llm_judge
    jury:
      judges:
        - {judge_prompt_ref: judge/right@1.0.0, target: strict}
        - {judge_prompt_ref: judge/right@1.0.0, target: mild}
      aggregation: unanimous
scoring: {combine: all_pass}
"""
PROGRAM = "  - {id: program, kind: command, script: [python3, grade.py]}\n"
QUALITY = JURY.replace("id: jury\nv", "id: quality\nv").replace("scoring:", f"{PROGRAM}scoring:")
SAYS = """\
id: says
version: 1.0.0
checks: [{id: says, kind: contains_all, phrases: [nine]}]
scoring: {combine: all_pass}
"""
CALLED = [
    {"role": "user", "content": "When on Sunday?"},
    {"role": "assistant", "tool_calls": [{"tool": "hours", "input": {"day": 7}, "id": "c1"}]},
    {"role": "tool", "content": "closed", "tool_call_id": "c1"},
]
IMAGE = [{"type": "text", "value": "And this?"}, {"type": "image", "value": "chart.png"}]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
_TIMES = (
    (r'"\d{4}-\d\d-\d\dT[^"]*"', '"T"'),
    (r'"(run|group)_[0-9A-Z]{26}"', '"RUN"'),
    (r'"[a-z_]*(latency|duration|elapsed|seconds)[a-z_]*": ?[\d.e-]+', '"TIME"'),
    (r'"(p50|p95)": ?[\d.e-]+', '"TIME"'),
    (r'"(sha256|size|manifest_sha256)": ?("[0-9a-f]{64}"|\d+)', '"FILE"'),
    (r'"workers": \d+', '"ASKED"'),
    # The orders in which judges are shown options, which a run draws for itself.
    (r'"seed": ?\d+', '"SEED"'),
)


def write_project(root: Path) -> None:
    """Questions to programs that import another file, and judges of their answers."""
    rows = (
        {
            "id": f"c{number}",
            "expected_outcome": "Yes.",
            "input": f"question {number}",
            "evaluators": [{"type": "equals", "value": NINE if number % 7 else "no"}],
            "tags": [f"t{number % 3}"],
        }
        for number in range(COUNT)
    )
    judged = (
        {
            "id": f"r{number}",
            "expected_outcome": "It says when.",
            "input_messages": [*CALLED, {"role": "user", "content": _asked(number)}],
            "tags": [f"t{number % 3}"],
        }
        for number in range(JUDGED)
    )
    texts = {
        "agent.py": AGENT,
        "here.py": HERE,
        "shown.jsonl": "".join(map(_showing, range(SHOWN))),
        ".notes/hidden.md": "It is hidden.\n",
        "../shared/far.md": "It is far.\n",
        ".agentv/config.yaml": "guideline_patterns: ['far.md']\n",
        "questions.py": f'ANSWER = "{NINE}"\n',
        "grade.py": GRADER,
        "steelyard.yaml": SETTINGS,
        "judges/right.yaml": JUDGE,
        "rubrics/jury.yaml": JURY,
        "rubrics/quality.yaml": QUALITY,
        "rubrics/says.yaml": SAYS,
        "d.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "judged.jsonl": "".join(json.dumps(row) + "\n" for row in judged),
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "chart.png").write_bytes(PNG)


def _showing(number: int) -> str:
    """A case that shows files which listings of the project leave out."""
    files = [{"type": "file", "value": name} for name in (".notes/hidden.md", "../shared/far.md")]
    row = {
        "id": f"s{number}",
        "expected_outcome": "Yes.",
        "input_messages": [{"role": "user", "content": files}],
        "evaluators": [{"type": "equals", "value": NINE}],
    }
    return json.dumps(row) + "\n"


def _asked(number: int) -> object:
    return f"When on day {number}?" if number % 3 else IMAGE


def sealed_equally(folders: Sequence[Path]) -> dict[str, list[str]]:
    """Where artifacts differ in more than times and names of runs: the first lines that do."""
    found: dict[str, list[str]] = {}
    for name in ARTIFACTS:
        texts = [_timeless(_ordered(folder / name)) for folder in folders]
        for other in texts[1:]:
            differing = [
                f"{mine[:300]} != {theirs[:300]}"
                for mine, theirs in zip(texts[0].splitlines(), other.splitlines(), strict=False)
                if mine != theirs
            ]
            if texts[0] != other:
                found.setdefault(name, []).extend(differing[:3] or ["other lengths"])
    return found


def _ordered(path: Path) -> str:
    """The rows of a file, calls of one record not in the order in which they have ended."""
    text = path.read_text(encoding="utf-8")
    if path.name != "attempt_logs.jsonl":
        return text
    keys = ("index", "repeat", "call", "check", "target", "attempt")
    rows = [(json.loads(line), line) for line in text.splitlines()]
    return "\n".join(
        line for _, line in sorted(rows, key=lambda one: [str(one[0].get(key)) for key in keys])
    )


def _timeless(text: str) -> str:
    for pattern, instead in _TIMES:
        text = re.sub(pattern, instead, text)
    return text
