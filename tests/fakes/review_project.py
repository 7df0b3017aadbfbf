"""A small project whose responses people and a judge look at, question by question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS = 40
SETTINGS = """\
targets:
  desk: {provider: python, callable: "people:desk"}
  big: {provider: python, callable: "people:judge"}
  small: {provider: python, callable: "people:doubter"}
judges:
  default: {target: big}
"""
PEOPLE = '''\
"""A desk that answers, and two judges of it."""

import json
import re


def desk(prompt):
    number = re.search("[0-9]+", prompt)[0]
    if number == "39":
        raise RuntimeError("nobody is here")
    messages = [
        {"role": "assistant", "content": "One moment."},
        {"role": "assistant", "content": f"Answer number {number}."},
    ]
    return {"messages": messages}


def values(number, strict):
    return {
        "correct": 0 if number % 5 == 0 or strict else 1,
        "quality": 1 + number % 4,
        "tone": "warm" if number % 3 else "cold",
        "issues": ["slow"] if number % 2 else [],
        "turn_ok": "fine",
        "score": 0.2 if strict else (0.95, 0.7, 0.4)[number % 3],
    }


def reply(prompt, strict):
    found = re.findall("Answer number ([0-9]+)", prompt)
    known = values(int(found[-1]) if found else 1, strict and int(found[-1]) % 4 == 0)
    keys = re.findall('under the key "([a-z0-9_]+)"', prompt)
    answers = {
        key: {"evidence": "Answer", "reasoning": f"about {key}", "value": known[key]}
        for key in keys
    }
    return json.dumps({"answers": answers})


def judge(prompt):
    return reply(prompt, False)


def doubter(prompt):
    return reply(prompt, True)
'''
QUESTIONS: dict[str, Any] = {
    "name": "Desk quality",
    "version": "desk-v1",
    "status": "published",
    "scale": "0-5",
    "questions": [
        {"key": "correct", "label": "Is it right?", "type": "yes_no"},
        {"key": "quality", "label": "How good is it?", "type": "score"},
        {
            "key": "tone",
            "label": "Which tone?",
            "type": "single_select",
            "options": [{"value": "warm", "label": "Warm"}, {"value": "cold", "label": "Cold"}],
        },
        {
            "key": "issues",
            "label": "What is wrong?",
            "type": "multi_select",
            "options": [{"value": "slow", "label": "Slow"}, {"value": "rude", "label": "Rude"}],
        },
        {
            "key": "turn_ok",
            "label": "Is this turn fine?",
            "type": "button_group",
            "scope": "turn",
            "options": [{"value": "fine", "label": "Fine"}, {"value": "poor", "label": "Poor"}],
        },
        {"key": "note", "label": "Notes", "type": "comment"},
    ],
}
JURY = """\
id: jury
version: 1.0.0
checks:
  - id: heard
    kind: llm_judge
    jury:
      judges:
        - {judge_prompt_ref: judge/accuracy@1.0.0, target: big}
        - {judge_prompt_ref: judge/accuracy@1.0.0, target: small}
scoring: {combine: weighted_avg, pass_threshold: 0.6}
"""
OUTER = """\
id: outer
version: 1.0.0
checks:
  - {id: asked, kind: composite, rubric_ref: rubric/desk-v1}
scoring: {combine: all_pass}
"""


def records() -> list[dict[str, Any]]:
    """Records with an id, a prompt and a tag or two."""
    return [
        {
            "record_id": f"r{number:02}",
            "input": {"prompt": f"Question {number}?"},
            "tags": ["odd" if number % 2 else "even", *(["first"] if number < 4 else [])],
        }
        for number in range(RECORDS)
    ]


def write_review(root: Path) -> Path:
    """Write the project; the desk answers 39 of its 40 records."""
    document = {
        "dataset_id": "desk",
        "dataset_version": "1.0",
        "schema_version": "1.0",
        "records": records(),
    }
    for name, text in (
        ("steelyard.yaml", SETTINGS),
        ("people.py", PEOPLE),
        ("desk.json", json.dumps(document)),
        ("rubrics/desk-v1.json", json.dumps(QUESTIONS)),
        ("rubrics/jury.yaml", JURY),
        ("rubrics/outer.yaml", OUTER),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def answers(number: int, **changed: Any) -> dict[str, Any]:
    """What a careful person says of a response; the judge says the same."""
    said: dict[str, Any] = {
        "correct": 0 if number % 5 == 0 else 1,
        "quality": 1 + number % 4,
        "tone": "warm" if number % 3 else "cold",
        "issues": ["slow"] if number % 2 else [],
        **changed,
    }
    turns = {"turn_1": {"turn_ok": "fine"}, "turn_2": {"turn_ok": "fine"}}
    return {"trace": said, "turns": turns}


def label(number: int, annotator: str, **more: Any) -> dict[str, Any]:
    """A row of a label under the question rubric, without its answers unless they are given."""
    return {
        "record_id": f"r{number:02}",
        "rubric": "rubric/desk-v1",
        "annotator": annotator,
        "exposure": "blind",
        **more,
    }


def jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows, one a line."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
