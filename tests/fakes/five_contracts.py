"""A project with a dataset of every contract, and what a candidate answered to each."""

from __future__ import annotations

import json
from pathlib import Path

LEGAL = [
    {
        "schema_version": "legal_eval_v1",
        "id": "m1",
        "dataset": "lexam",
        "task_type": "mcq",
        "prompt": "Which court hears the appeal?",
        "context": "The case was heard in Zurich.",
        "choices": [{"id": "A", "text": "The cantonal court"}, {"id": "B", "text": "None"}],
        "correct_choice_ids": ["A"],
        "metadata": {"policy_id": "lexam_mcq_v1"},
    },
    {
        "schema_version": "legal_eval_v1",
        "id": "m2",
        "dataset": "lexam",
        "task_type": "mcq",
        "prompt": "Is there a time limit?",
        "choices": [{"id": "A", "text": "Yes"}, {"id": "B", "text": "No"}],
        "correct_choice_ids": ["A"],
    },
]
DOCUMENT = {
    "dataset_id": "desk",
    "dataset_version": "1.0",
    "schema_version": "1.0",
    "records": [{"record_id": "d1", "input": {"prompt": "When do you open?"}}],
}
QUESTIONS = """\
questions:
  - {id: q1, input: When do you open?, rubric_ref: rubric/hours@1.0}
  - {id: q2, input: Give me JSON., expected: {format: json}}
  - {id: q3, input: What does it cost?, expected_facts: [Booking a room is free]}
  - {id: q4, input: Look it up., rubric_ref: rubric/gone@1.0}
"""
EVALS = {
    "skill_name": "caching",
    "evals": [
        {
            "id": 1,
            "prompt": "Write cache code.",
            "expected_output": "Code with cache tags.",
            "must_contain_any": ["#cache"],
            "check_markdown_structure": {"min_code_blocks": 1},
        },
        {"id": 2, "prompt": "Say anything.", "expected_output": "Anything."},
    ],
}
CASES = [
    {
        "id": "c1",
        "expected_outcome": "Says nine.",
        "input": "When do you open?",
        "evaluators": [{"type": "contains", "value": "nine"}],
    }
]
RUBRIC = """\
id: hours
version: 1.0.0
checks: [{id: nine, kind: must_contain_any, phrases: [nine]}]
scoring: {combine: all_pass}
"""
ANSWERS = {
    "m1": "The appeal goes to the canton.\n\nCorrect Answer: ###A###",
    "m2": "I cannot say.",
    "d1": "At nine.",
    "q1": "At nine.",
    "q2": '{"hours": 9}',
    "q3": "Booking a room is free for members.",
    "q4": "-",
    "1": "```php\n$build['#cache'] = [];\n```",
    "2": "Anything.",
    "c1": "At nine.",
}


def write_five(root: Path) -> None:
    """Lay the project out."""
    files = {
        "steelyard.yaml": "slices: [task_type]\n",
        "datasets/legal.jsonl": "".join(json.dumps(row) + "\n" for row in LEGAL),
        "datasets/desk.json": json.dumps(DOCUMENT),
        "datasets/questions.yaml": QUESTIONS,
        "datasets/caching.evals.json": json.dumps(EVALS),
        "datasets/cases.jsonl": "".join(json.dumps(row) + "\n" for row in CASES),
        "rubrics/hours.yaml": RUBRIC,
        "answers.jsonl": "".join(
            json.dumps({"record_id": name, "candidate_name": "ann", "response_text": text}) + "\n"
            for name, text in ANSWERS.items()
        ),
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
