"""A project whose answers people annotate: short ones, and one of a thousand turns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ITEMS = 24
LONG = 1000
"""Turns of the long trace."""
SECRET = "judge-secret"
"""Begins everything that only the judge says."""
SETTINGS = """\
targets:
  desk: {provider: python, callable: "desk:answer"}
  long: {provider: python, callable: "desk:talk"}
  judge: {provider: python, callable: "desk:judge"}
judges:
  default: {target: judge}
"""
DESK = f'''\
"""A desk that answers, one that talks for long, and a judge of both."""

import json
import re


def answer(prompt):
    number = int(re.search("[0-9]+", prompt)[0])
    call = {{"id": "call_1", "tool": "look_up", "input": {{"title": f"Book {{number}}"}}}}
    call["output"] = {{"hits": number, "marks": ["A", "B"]}}
    messages = [
        {{"role": "system", "content": "# House rules\\nBe kind."}},
        {{"role": "assistant", "content": "**One moment.**", "tool_calls": [call]}},
        {{"role": "assistant", "content": f"Answer number {{number}}."}},
    ]
    return {{"messages": messages}}


def talk(prompt):
    messages = []
    for number in range({LONG}):
        messages.append({{"role": "assistant", "content": f"Turn *{{number + 1}}* of many."}})
        messages.append({{"role": "user", "content": "And then?"}})
    return {{"messages": messages}}


def judge(prompt):
    found = re.findall("Answer number ([0-9]+)", prompt)
    is_right = int(found[-1]) % 4 > 0 if found else True
    known = {{"right": int(is_right), "level": 4 if is_right else 1, "tone": "warm"}}
    keys = re.findall('under the key "([a-z0-9_]+)"', prompt)
    said = "{SECRET} reasoning"
    answers = {{
        key: {{"evidence": "Answer", "reasoning": said, "value": known[key]}} for key in keys
    }}
    return json.dumps({{"answers": answers}})
'''


def options(*values: str) -> list[dict[str, str]]:
    """Options whose labels are their values."""
    return [{"value": value, "label": value.capitalize()} for value in values]


QUICK: dict[str, Any] = {
    "name": "Desk quality",
    "version": "quick-v1",
    "status": "published",
    "guidance": ["Read the whole answer first."],
    "questions": [
        {"key": "right", "label": "Is it right?", "type": "yes_no", "required": True},
        {"key": "level", "label": "How good?", "type": "score", "scale": "1-5"},
        {
            "key": "tone",
            "label": "Which tone?",
            "type": "single_select",
            "options": options("warm", "cold", "flat"),
        },
    ],
}
_AREAS = options(*(f"area {letter}" for letter in "abcdefghi"))


def _every(scope: str, prefix: str) -> list[dict[str, Any]]:
    """One question of each type and each way to answer it."""
    shared = {"scope": scope}
    return [
        {**shared, "key": f"{prefix}yes", "label": f"{prefix}yes?", "type": "yes_no"},
        {**shared, "key": f"{prefix}level", "label": f"{prefix}level?", "type": "score"},
        {
            **shared,
            "key": f"{prefix}ten",
            "label": f"{prefix}ten?",
            "type": "score",
            "scale": "1-10",
        },
        {
            **shared,
            "key": f"{prefix}nought",
            "label": f"{prefix}nought?",
            "type": "score",
            "scale": "0-10",
        },
        {
            **shared,
            "key": f"{prefix}cent",
            "label": f"{prefix}cent?",
            "type": "score",
            "scale": {"min": 0, "max": 100},
        },
        {
            **shared,
            "key": f"{prefix}kind",
            "label": f"{prefix}kind?",
            "type": "single_select",
            "options": options("first", "second", "third"),
        },
        {
            **shared,
            "key": f"{prefix}area",
            "label": f"{prefix}area?",
            "type": "single_select",
            "options": _AREAS,
        },
        {
            **shared,
            "key": f"{prefix}group",
            "label": f"{prefix}group?",
            "type": "button_group",
            "options": options("low", "middle", "high"),
        },
        {
            **shared,
            "key": f"{prefix}steps",
            "label": f"{prefix}steps?",
            "type": "score",
            "scale": {"min": 0, "max": 100, "step": 10},
        },
        {
            **shared,
            "key": f"{prefix}tags",
            "label": f"{prefix}tags?",
            "type": "multi_select",
            "options": options("slow", "rude"),
        },
        {**shared, "key": f"{prefix}note", "label": f"{prefix}note?", "type": "comment"},
    ]


EVERY: dict[str, Any] = {
    "name": "Every type",
    "version": "every-v1",
    "status": "draft",
    "scale": "0-5",
    "questions": [*_every("turn", "turn_"), *_every("trace", "")],
}


TURNS: dict[str, Any] = {
    "name": "Turn by turn",
    "version": "turns-v1",
    "status": "published",
    "questions": [
        {"key": "fine", "label": "Is this turn fine?", "type": "yes_no", "scope": "turn"},
        {"key": "right", "label": "Is it right?", "type": "yes_no", "required": True},
    ],
}


def write_desk(root: Path) -> Path:
    """Write the project, and run it: a short run and one with a long trace."""
    files = {
        "steelyard.yaml": SETTINGS,
        "desk.py": DESK,
        "desk.json": _dataset("desk", ITEMS),
        "long.json": _dataset("long", 1),
        "rubrics/quick-v1.json": json.dumps(QUICK),
        "rubrics/every-v1.json": json.dumps(EVERY),
        "rubrics/turns-v1.json": json.dumps(TURNS),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    for dataset, target in (("desk.json", "desk"), ("long.json", "long")):
        words = ("run", dataset, "--target", target, "--rubric", "rubric/quick-v1")
        command = [sys.executable, "-P", "-m", "steelyard", *words]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode in {0, 1}, done.stderr
    return root


def _dataset(name: str, number: int) -> str:
    return json.dumps(
        {
            "dataset_id": name,
            "dataset_version": "1.0",
            "schema_version": "1.0",
            "records": [
                {"record_id": f"{name}-{at:02}", "input": {"prompt": f"Question {at}?"}}
                for at in range(number)
            ],
        }
    )
