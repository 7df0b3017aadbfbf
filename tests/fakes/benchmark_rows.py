"""Made-up rows in the shapes in which benchmarks are published."""

from __future__ import annotations

import json

from steelyard.model.json_value import JsonObject, JsonValue


def criterion(name: str, kind: str = "important", weight: float | None = 5.0) -> JsonObject:
    """A criterion of PRBench; its weight stands in the column that its class names."""
    classes = ("critically_important", "important", "slightly_important", "detrimental")
    annotations: JsonObject = {f"{each}_weight": None for each in classes}
    annotations[f"{kind.replace(' ', '_')}_weight"] = weight
    return {
        "id": name,
        "title": f"Names {name}",
        "annotations": {
            **annotations,
            "weight_class": kind,
            "criteria_category": "Accuracy",
            "criteria_description": f"Why {name} matters",
        },
    }


def prbench(task: JsonValue = "t1", **changes: JsonValue) -> JsonObject:
    """A task of PRBench with one turn."""
    turns: JsonObject = {}
    for turn in range(10):
        turns[f"prompt_{turn}"] = None
        turns[f"response_{turn}"] = None
        turns[f"model_{turn}"] = None
        turns[f"reference_texts_{turn}"] = []
    return {
        "task": task,
        "turns": 1,
        "field": "Legal",
        "topic": "Contracts",
        "canary": f"canary:{task}",
        "rubric": [criterion("a"), criterion("b", "detrimental", -4.0)],
        **turns,
        "prompt_0": "May I cancel?",
        **changes,
    }


def apexv1(task: JsonValue = 7, **changes: JsonValue) -> JsonObject:
    """A task of APEX-v1-extended."""
    rubric: JsonObject = {
        "criterion 1": {
            "description": "States the rule.",
            "justification": "The expert's own words.",
            "weight": "Primary objective(s)",
            "dependent_criteria": [],
        },
        "criterion 2": {"description": "Applies it."},
    }
    return {
        "Task ID": task,
        "Domain": "Legal",
        "Prompt": "Advise the client.",
        "Rubric JSON": json.dumps(rubric),
        "File Attachments": "documents/7/Lease.PDF\ndocuments/7/notes\n",
        **changes,
    }


def lexam_open(name: JsonValue = "q1", **changes: JsonValue) -> JsonObject:
    """An open question of LEXam."""
    return {
        "id": name,
        "question": "Is the contract void?",
        "answer": "Yes, under Art. 20.",
        "course": "Contracts",
        "choices": None,
        "gold": None,
        **changes,
    }


def lexam_mcq(name: JsonValue = "q2", **changes: JsonValue) -> JsonObject:
    """A multiple-choice question of LEXam."""
    return {
        "id": name,
        "question": "Which are right?",
        "choices": "['i', 'ii', \"neither's\"]",
        "gold": 2.0,
        "year": 2020,
        "answer": None,
        **changes,
    }


def includebase(question: str = "Who signs?", **changes: JsonValue) -> JsonObject:
    """A question of INCLUDE-base."""
    return {
        "language": "Finnish",
        "subject": "Law",
        "question": question,
        "option_a": "The king",
        "option_b": "The president",
        "option_c": "Nobody",
        "option_d": "All",
        "answer": 1,
        **changes,
    }


def lar_echr(case: str = "001-1_12", **changes: JsonValue) -> JsonObject:
    """A paragraph of LAR-ECHR; made up, because its rows may not be shipped."""
    return {
        "case_id": case,
        "case_no": "1/99",
        "facts": "A was detained.",
        "complete_facts": ["A was detained.", "B was not."],
        "context": "The Court notes X.",
        "a": "It follows that A.",
        "b": "It follows that B.",
        "c": "It follows that C.",
        "d": "It follows that D.",
        "label": "C",
        **changes,
    }
