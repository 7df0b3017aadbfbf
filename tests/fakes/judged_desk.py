"""A help desk whose judge errs at known rates: responses, replies and labels are all recorded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from fakes.warm_command import Done

SETTINGS = """\
targets:
  desk: {provider: recorded, path: responses.jsonl}
  judge: {provider: recorded, path: replies.jsonl}
judges: {default: {target: judge}}
slices: [metadata.topic]
"""
JUDGE = """\
# What people are asked as well.
id: right
version: 1.0.0
score_type: binary
template: |
  Is this right? {{ output }}
"""
RUBRIC = """\
id: quality
version: 1.0.0
checks:
  - {id: right, kind: llm_judge, judge_prompt_ref: judge/right@1.0.0}
scoring: {combine: all_pass}
"""
BUNDLES = ("loans", "fees")
REF = "judge/right@1.0.0"
RUN = ("run", "desk.yaml", "--target", "desk", "--rubric", "rubric/quality@1.0.0")
JSON = ("--format", "json")
VALIDATE = ("judge", "validate", REF, "--labels", "labels.jsonl")
ALL = ("--split", "all", "--no-canaries")
VALIDATE_LATEST = (*VALIDATE, "--run", "latest", *ALL)
RANDOM = (*VALIDATE_LATEST, "--design", "random")
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Response:
    """A record: whether people pass what was answered, and whether the judge does."""

    name: str
    number: int
    is_good: bool
    is_passed: bool

    @property
    def bundle(self) -> str:
        """What it is about."""
        return BUNDLES[self.number % 2]


def drawn(
    count: int, rate: float, *, tpr: float = 0.9, tnr: float = 0.8, seed: int = 1
) -> list[Response]:
    """Responses of which this share is good, and a judge that errs at these rates."""
    chance = Random(seed)
    made: list[Response] = []
    for number in range(count):
        is_good = chance.random() < rate
        is_passed = chance.random() < (tpr if is_good else 1 - tnr)
        made.append(Response(f"q{number}", number, is_good, is_passed))
    return made


def reply(value: object) -> str:
    """What the judge says, in the form that it is asked for."""
    answer = {"evidence": "", "reasoning": "So it seems.", "value": value}
    return json.dumps({"answers": {"score": answer}})


def label(response: Response, **more: object) -> Row:
    """A blind label that tells the truth."""
    return {
        "record_id": response.name,
        "rubric": "rubric/quality@1.0.0",
        "annotator": "ann",
        "exposure": "blind",
        "passed": response.is_good,
        **more,
    }


def read(done: Done) -> Row:
    """What a command says as JSON, whether or not it is content."""
    assert done.code in {0, 1}, done.stderr
    return json.loads(done.stdout)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_dataset(path: Path, responses: Iterable[Response], **more: object) -> None:
    """The questions that were answered."""
    questions = [
        {
            "id": one.name,
            "input": f"Question {one.number}?",
            "bundle": one.bundle,
            "metadata": {"topic": one.bundle},
            **more,
        }
        for one in responses
    ]
    path.write_text(json.dumps({"questions": questions}), encoding="utf-8")


def write_judged_desk(
    root: Path,
    responses: list[Response],
    *,
    says: Callable[[Response], str | None] = lambda one: reply(int(one.is_passed)),
    voice: str = "Answer",
) -> Path:
    """The project; `says` is what the judge replies, None where nothing was recorded."""
    for name, text in (
        ("steelyard.yaml", SETTINGS),
        ("judges/right.yaml", JUDGE),
        ("rubrics/quality.yaml", RUBRIC),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    write_dataset(root / "desk.yaml", responses)
    write_rows(
        root / "responses.jsonl",
        ({"record_id": one.name, "response_text": f"{voice} {one.number}."} for one in responses),
    )
    said = ((one, says(one)) for one in responses)
    write_rows(
        root / "replies.jsonl",
        (
            {"record_id": one.name, "judge": "right", "check": "right", "response_text": text}
            for one, text in said
            if text is not None
        ),
    )
    return root


def labelled_desk(root: Path, responses: list[Response], labels: Iterable[Row]) -> Path:
    """The project with labels of its responses."""
    write_judged_desk(root, responses)
    write_rows(root / "labels.jsonl", labels)
    return root


def copied_desk(desk: Path, root: Path, labels: Iterable[Row]) -> Path:
    """Another project like this one, its runs included, with labels."""
    shutil.copytree(desk, root, dirs_exist_ok=True)
    write_rows(root / "labels.jsonl", labels)
    return root
