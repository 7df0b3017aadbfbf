"""The shapes of runs that the engine is measured with: files, settings, calls a record.

Every shape is a project of its own; what its targets answer is chosen by the path of their
address (`bench/openai_server.py`).
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.openai_server import ANSWERS

AT_ONCE = 64
REPEATS = 5
_WEEKS = "three weeks"


class Shape(NamedTuple):
    """One way to ask and grade."""

    what: str
    file: str
    """The name of the dataset, whose ending says its format."""
    record: Callable[[int], dict[str, Any]]
    about: dict[str, Any] | None = None
    """The members beside the records of a document; None for a file with a row a line."""
    held_in: str = ""
    """The member that has the records of a document."""
    rubric: dict[str, Any] | None = None
    words: tuple[str, ...] = ()
    """Options of `steelyard run`."""
    answers: tuple[str, ...] = ("weeks",)
    """What is answered to each call that a record takes."""
    image: str = ""
    """The picture that goes with each call, as a data URL."""


def shapes() -> dict[str, Shape]:
    """Every shape by its name."""
    return {
        "eval_cases": Shape("eval cases, one `contains` for all", "cases.jsonl", _case),
        "eval_cases_own": Shape(
            "eval cases, each with tags, metadata and a `contains` of its own",
            "cases.jsonl",
            _own_case,
        ),
        "legal_eval": Shape("legal_eval rows, `mcq`", "rows.jsonl", _row, answers=("choice",)),
        "document": Shape(
            "a dataset document, reference answers",
            "document.json",
            _document_record,
            about={
                "dataset_id": "loans",
                "dataset_version": "2026-01-15",
                "schema_version": "1.0",
            },
            held_in="records",
            rubric=_rubric({"id": "named", "kind": "must_contain_any"}),
        ),
        "question_set": Shape(
            "a question set under a check rubric of four checks",
            "questions.json",
            _question,
            about={"description": "Loans."},
            held_in="questions",
            rubric=_rubric(
                {"id": "named", "kind": "must_contain_any", "weight": 2},
                {"id": "facts", "kind": "fact_match"},
                {"id": "period", "kind": "regex", "pattern": r"\b(two|three) weeks\b"},
                {"id": "no_excuse", "kind": "must_not_contain", "phrases": ["I'm sorry"]},
            ),
        ),
        "evals_json": Shape(
            "an evals.json with phrases",
            "loans.evals.json",
            _eval,
            about={"skill_name": "loans"},
            held_in="evals",
        ),
        "judged": Shape(
            "a judged run: 2 calls a record",
            "cases.jsonl",
            _case,
            rubric=_rubric(
                {"id": "right", "kind": "llm_judge", "judge_prompt_ref": "judge/first@1.0"}
            ),
            answers=("weeks", "judge"),
        ),
        "jury": Shape(
            "a jury of three: 4 calls a record",
            "cases.jsonl",
            _case,
            rubric=_rubric({"id": "right", "kind": "llm_judge", "jury": _JURY}),
            answers=("weeks", "judge", "judge", "judge"),
        ),
        "tools_images": Shape(
            "a picture in every question, an answer by a tool",
            "cases.jsonl",
            _picture_case,
            rubric=_rubric(
                {
                    "id": "looked",
                    "kind": "tool_trajectory",
                    "mode": "in_order",
                    "expected": [{"tool": "look_up"}],
                }
            ),
            words=("--target", "tool"),
            answers=("tool",),
            image=_PICTURE,
        ),
        "repeats": Shape(
            f"eval cases asked {REPEATS} times each",
            "cases.jsonl",
            _case,
            words=("--repeat", str(REPEATS)),
            answers=("weeks",) * REPEATS,
        ),
        "long": Shape("eval cases, answers of 8 KB", "cases.jsonl", _case, answers=("long",)),
    }


def write_project(shape: Shape, folder: Path, url: str, counts: tuple[int, ...]) -> None:
    """A project with the shape's settings, rubric, judges, and datasets of so many records."""
    for name in ("rubrics", "judges"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    targets = {name: _target(name, url) for name in ANSWERS}
    targets["tool"]["tools"] = [_TOOL]
    settings = {
        "targets": targets,
        "judges": {name: {"target": "judge"} for name in _JUDGES},
    }
    _write(folder / "steelyard.yaml", settings)
    for name, template in _JUDGES.items():
        about = {"id": name, "version": "1.0.0", "score_type": "binary", "template": template}
        _write(folder / "judges" / f"{name}.yaml", about)
    if shape.rubric:
        _write(folder / "rubrics" / "loans.yaml", shape.rubric)
    for count in counts:
        with dataset(shape, folder, count).open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(_lines(shape, count))


def dataset(shape: Shape, folder: Path, count: int) -> Path:
    """The file with so many records."""
    (folder / str(count)).mkdir(exist_ok=True)
    return folder / str(count) / shape.file


def run_words(shape: Shape) -> tuple[str, ...]:
    """The options that run the shape."""
    target = () if "--target" in shape.words else ("--target", shape.answers[0])
    rubric = ("--rubric", "rubric/loans@1.0") if shape.rubric else ()
    return (*target, *rubric, *shape.words)


def question(number: int) -> str:
    """What record `number` asks."""
    return f"For how long may a member keep book {number}?"


def _lines(shape: Shape, count: int) -> Iterator[str]:
    if shape.about is None:
        for number in range(count):
            yield json.dumps(shape.record(number)) + "\n"
        return
    records = [shape.record(number) for number in range(count)]
    yield json.dumps({**shape.about, shape.held_in: records})


def _case(number: int) -> dict[str, Any]:
    return {
        "id": f"case-{number:06d}",
        "expected_outcome": "Says how long a book may be kept.",
        "input_messages": [{"role": "user", "content": question(number)}],
        "evaluators": [{"name": "weeks", "type": "contains", "value": _WEEKS}],
        "tags": ["loans"],
    }


def _own_case(number: int) -> dict[str, Any]:
    own = {"name": "own", "type": "contains", "value": f"week {number % 50}"}
    return {
        **_case(number),
        "metadata": {"shelf": f"shelf {number % 40}"},
        "tags": ["loans", f"week-{number % 50}"],
        "evaluators": [own],
    }


def _picture_case(number: int) -> dict[str, Any]:
    content = [
        {"type": "text", "value": question(number)},
        {"type": "image_url", "image_url": {"url": _PICTURE}},
    ]
    row = _case(number)
    del row["evaluators"]
    return {**row, "input_messages": [{"role": "user", "content": content}]}


def _row(number: int) -> dict[str, Any]:
    return {
        "schema_version": "legal_eval_v1",
        "id": f"loans:{number}",
        "dataset": "loans",
        "task_type": "mcq",
        "prompt": question(number),
        "choices": [{"id": "A", "text": _WEEKS}, {"id": "B", "text": "two days"}],
        "correct_choice_ids": ["A"],
    }


def _document_record(number: int) -> dict[str, Any]:
    return {
        "record_id": f"loan-{number:06d}",
        "input": {"prompt": question(number)},
        "reference": {"answer": _WEEKS},
        "tags": ["loans"],
        "metadata": {"shelf": f"shelf {number % 40}"},
    }


def _question(number: int) -> dict[str, Any]:
    return {
        "id": f"loan-{number:06d}",
        "input": question(number),
        "expected": _WEEKS,
        "expected_facts": ["The loan period is three weeks."],
        "metadata": {"shelf": f"shelf {number % 40}"},
    }


def _eval(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "prompt": question(number),
        "must_contain_any": [_WEEKS, "21 days"],
        "must_not_contain": ["I'm sorry"],
    }


def _rubric(*checks: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "loans",
        "version": "1.0.0",
        "checks": list(checks),
        "scoring": {"combine": "weighted_avg"},
    }


def _target(answer: str, url: str) -> dict[str, Any]:
    return {
        "provider": "openai",
        "base_url": f"{url}/{answer}",
        "model": "bench-1",
        "max_concurrency": AT_ONCE,
    }


def _write(path: Path, value: dict[str, Any]) -> None:
    """JSON is YAML."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def _png(side: int) -> bytes:
    """A grey square."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes((x * y) % 251 for x in range(side)) for y in range(side))
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


_PICTURE = f"data:image/png;base64,{base64.b64encode(_png(64)).decode()}"
_JUDGES = {
    name: f"{{{{ input }}}}\n\nAnswer:\n{{{{ output }}}}\n\n{ask}"
    for name, ask in {
        "first": "Is the answer right?",
        "second": "Is the answer complete?",
        "third": "Is the answer polite?",
    }.items()
}
_JURY = {
    "judges": [{"judge_prompt_ref": f"judge/{name}@1.0"} for name in _JUDGES],
    "aggregation": "median",
}
_TOOL = {
    "name": "look_up",
    "description": "The loan period of a book",
    "parameters": {"type": "object", "properties": {"book": {"type": "string"}}},
}
