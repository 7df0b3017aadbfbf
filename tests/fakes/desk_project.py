"""A small project to run commands in: a help desk whose agents note every call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SETTINGS = """\
targets:
  agent: {provider: python, callable: "desk_agent:answer"}
  moody: {provider: python, callable: "desk_agent:moody"}
  slow: {provider: python, callable: "desk_agent:slow"}
  dear: {provider: echo, price: {input: 1000, output: 1000}}
suites:
  release: {dataset: datasets/desk.jsonl, target: agent, fail_under: 0.9}
  nightly: {dataset: datasets/desk.jsonl, target: moody, rubric: rubric/polite@1.0}
retry: {max_attempts: 2, backoff_s: [0]}
"""
AGENT = '''\
"""Agents of the help desk."""

import time
from pathlib import Path

CALLS = Path(__file__).parent / "calls.txt"
KNOWN = {"open": "At nine, please.", "book": "Three weeks, please.", "Bücher": "Nichts, bitte."}


def answer(prompt):
    with CALLS.open("a", encoding="utf-8") as stream:
        stream.write(prompt + "\\n")
    return next((said for word, said in KNOWN.items() if word in prompt), "I cannot say, please.")


def moody(prompt):
    if "Bücher" in prompt:
        raise RuntimeError("no mood for this")
    return answer(prompt)


async def slow(prompt):
    import asyncio

    said = answer(prompt)
    await asyncio.sleep(0 if "open" in prompt else 600)
    return said
'''
RUBRIC = """\
id: polite
version: 1.0.0
checks:
  - {id: says_please, kind: must_contain_any, phrases: [please]}
scoring: {combine: all_pass}
"""
MIXED: dict[str, Any] = {
    "dataset_id": "mixed",
    "dataset_version": "1",
    "schema_version": "1.0",
    "records": [
        {"record_id": "fast", "input": {"prompt": "Quick!"}, "expected": {"max_latency_ms": 9000}},
        {"record_id": "open", "input": {"prompt": "Say anything."}},
    ],
}
"""One record that is graded by its latency, and one that nothing grades."""
QUESTIONS = {
    "hours": ("When do you open?", "nine"),
    "loans": ("How long may I keep a book?", "weeks"),
    "fees": ("Was kosten Bücher?", "Nichts"),
    "parking": ("Where may I park?", "garage"),
}


def case(name: str, asked: str, wanted: str) -> dict[str, Any]:
    """An eval case that one deterministic evaluator grades."""
    return {
        "id": name,
        "expected_outcome": f"Says {wanted}.",
        "input_messages": [{"role": "user", "content": asked}],
        "evaluators": [{"name": "says", "type": "contains", "value": wanted}],
        "tags": ["desk"],
    }


def jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows, one a line."""
    path.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def write_desk(folder: Path) -> Path:
    """Write the project; `agent` passes three of its four cases, `moody` fails to answer one."""
    cases = [case(name, asked, wanted) for name, (asked, wanted) in QUESTIONS.items()]
    jsonl(folder / "datasets" / "desk.jsonl", cases)
    nameless = {**cases[1], "id": 7}
    jsonl(folder / "datasets" / "flawed.jsonl", [cases[0], nameless, cases[2], cases[3]])
    jsonl(folder / "datasets" / "hopeless.jsonl", [nameless])
    (folder / "datasets" / "mixed.json").write_text(json.dumps(MIXED), encoding="utf-8")
    said = [
        {"record_id": name, "candidate_name": candidate, "response_text": f"{wanted}, {candidate}"}
        for candidate in ("ann", "bob")
        for name, (_, wanted) in QUESTIONS.items()
        if candidate == "ann" or name != "hours"
    ]
    said.append({"record_id": "hours", "candidate_name": "bob", "response_text": "No idea."})
    jsonl(folder / "responses" / "both.jsonl", said)
    jsonl(folder / "responses" / "gaps.jsonl", said[:2])
    for name, text in (
        ("steelyard.yaml", SETTINGS),
        ("desk_agent.py", AGENT),
        ("rubrics/polite.yaml", RUBRIC),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
