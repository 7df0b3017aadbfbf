"""Makes the files that are measured: the same bytes on every machine, nothing real in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

FOLDER = Path(__file__).parent / "data"
RECORDS = 50_000
ROWS = 200_000
_TEXT = """
the answer names a loan period card reader library opening hour room fine reservation catalogue
shelf return branch evening Saturday price student member question about with without before
after and or is was can may must not every other first last Straße café naïve façade déjà 図書館
книга €18 „Zitat“ – …
"""


def document() -> Path:
    """The dataset document: 97 MB, 50,000 records."""
    return _written("document.json", _records(RECORDS))


def one_record() -> Path:
    """A document with one record, to know what starting up costs."""
    return _written("one.json", _records(1))


def cases(rows: int) -> Path:
    """Eval cases of about 200 bytes, one a line."""
    return _written(f"cases-{rows}.jsonl", _cases(rows))


def legal_rows(rows: int) -> Path:
    """Legal evaluation rows, the three types in turn."""
    return _written(f"legal-{rows}.jsonl", _legal_rows(rows))


def question_set(questions: int, ending: str) -> Path:
    """Questions that all name a rubric of their project, in a folder of their own."""
    rubric = "id: basic\nversion: 1.0.0\nchecks: [{id: a, kind: fact_match}]\n"
    _written("asked/steelyard.yaml", iter(["slices: [bundle]\n"]))
    _written("asked/rubrics/basic.yaml", iter([rubric, "scoring: {combine: all_pass}\n"]))
    return _written(f"asked/set-{questions}.{ending}", _asked(questions))


def question_rubric(questions: int) -> Path:
    """A question rubric in which every type of question takes its turn."""
    return _written(f"questions-{questions}.json", _questions(questions))


def evals(count: int) -> Path:
    """An evals file, whose cases bring their checks."""
    return _written(f"evals-{count}.json", _evals(count))


def check_rubric(checks: int) -> Path:
    """A check rubric in YAML, far longer than people write."""
    return _written(f"rubric-{checks}.yaml", _checks(checks))


def judges(count: int) -> Path:
    """A folder of judges in YAML."""
    folder = FOLDER / f"judges-{count}"
    chance = Random(29)
    sentences = _sentences(chance)
    for number in range(count):
        lines = _judge(f"judge_{number}", chance.choices(sentences, k=20))
        _written(f"{folder.name}/judge_{number}.yaml", lines)
    return folder


def _written(name: str, lines: Iterator[str]) -> Path:
    """Write a file once; a half-written one never takes its name."""
    path = FOLDER / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".part")
        with fresh.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
        fresh.rename(path)
    return path


def _records(count: int) -> Iterator[str]:
    chance = Random(7)
    sentences = _sentences(chance)
    yield '{"dataset_id": "bench", "dataset_version": "1", "schema_version": "1.0", "records": [\n'
    for index in range(count):
        record = {
            "record_id": f"q_{index:06d}",
            "input": {"prompt": " ".join(chance.choices(sentences, k=12))},
            "reference": {
                "answer": " ".join(chance.choices(sentences, k=6)) + chance.choice(sentences)[:42]
            },
            "tags": chance.sample(["loans", "fees", "rooms", "hours"], k=2),
            "expected": {"max_latency_ms": 20_000, "required_criteria": ["accuracy", "clarity"]},
            "metadata": {"topic": chance.choice(sentences)[:30], "difficulty": index % 5},
        }
        end = ",\n" if index + 1 < count else "\n"
        yield json.dumps(record, ensure_ascii=False) + end
    yield "]}\n"


def _cases(rows: int) -> Iterator[str]:
    chance = Random(11)
    sentences = _sentences(chance)
    for index in range(rows):
        case = {
            "id": f"case-{index:06d}",
            "expected_outcome": f"Says that {chance.choice(sentences)[:40]}",
            "input_messages": [{"role": "user", "content": chance.choice(sentences)[:70]}],
            "tags": ["loans"],
        }
        yield json.dumps(case, ensure_ascii=False) + "\n"


def _legal_rows(rows: int) -> Iterator[str]:
    chance = Random(17)
    sentences = _sentences(chance)
    types = ("mcq", "reference_qa", "rubric_qa")
    for index in range(rows):
        kind = types[index % len(types)]
        row: dict[str, object] = {
            "schema_version": "legal_eval_v1",
            "id": f"bench:{index:06d}",
            "dataset": "bench",
            "task_type": kind,
            "prompt": chance.choice(sentences),
            "metadata": {"policy_id": "default_v1", "language": "en"},
        }
        if kind == "mcq":
            row["choices"] = [
                {"id": name, "text": chance.choice(sentences)[:30]} for name in "ABCD"
            ]
            row["correct_choice_ids"] = [chance.choice("ABCD")]
        elif kind == "reference_qa":
            row["reference_answers"] = [chance.choice(sentences)]
        else:
            row["rubric"] = [
                {"id": f"c{number}", "title": chance.choice(sentences)[:40], "weight": number - 1}
                for number in range(4)
            ]
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _questions(count: int) -> Iterator[str]:
    chance = Random(13)
    sentences = _sentences(chance)
    types = ("score", "single_select", "multi_select", "yes_no", "button_group", "comment")
    yield '{"name": "Bench", "version": "bench-v1", "scale": "0-5", "questions": [\n'
    for index in range(count):
        kind = types[index % len(types)]
        question: dict[str, object] = {
            "key": f"q_{index:06d}",
            "label": chance.choice(sentences)[:60],
            "type": kind,
            "scope": "turn" if index % 3 else "trace",
            "guidance": chance.choice(sentences),
        }
        if kind in {"single_select", "multi_select", "button_group"}:
            question["options"] = [
                {"value": f"option_{number}", "label": chance.choice(sentences)[:20]}
                for number in range(5)
            ]
        end = ",\n" if index + 1 < count else "\n"
        yield json.dumps(question, ensure_ascii=False) + end
    yield "]}\n"


def _asked(count: int) -> Iterator[str]:
    chance = Random(19)
    sentences = _sentences(chance)
    yield '{"questions": [\n'
    for index in range(count):
        question = {
            "id": f"q_{index:06d}",
            "input": chance.choice(sentences)[:70],
            "criteria": [chance.choice(sentences)[:40]],
            "expected": {"answer": chance.choice(sentences)[:40], "format": "text"},
            "expected_facts": [chance.choice(sentences)[:30]],
            "rubric_ref": "rubric/basic@1.0",
            "bundle": "rag",
        }
        end = ",\n" if index + 1 < count else "\n"
        yield json.dumps(question, ensure_ascii=False) + end
    yield "]}\n"


def _evals(count: int) -> Iterator[str]:
    chance = Random(23)
    sentences = _sentences(chance)
    yield '{"skill_name": "bench", "evals": [\n'
    for index in range(count):
        case = {
            "id": index,
            "prompt": chance.choice(sentences),
            "expected_output": chance.choice(sentences),
            "expectations": [chance.choice(sentences)[:40] for _ in range(2)],
            "must_contain_any": [chance.choice(sentences)[:20] for _ in range(2)],
            "must_not_contain": [chance.choice(sentences)[:20]],
            "check_markdown_structure": {"no_h1": True, "min_code_blocks": 1},
        }
        end = ",\n" if index + 1 < count else "\n"
        yield json.dumps(case, ensure_ascii=False) + end
    yield "]}\n"


def _checks(count: int) -> Iterator[str]:
    chance = Random(31)
    sentences = _sentences(chance)
    yield "id: bench\nversion: 1.0.0\nscoring: {combine: weighted_avg, pass_threshold: 0.6}\n"
    yield "checks:\n"
    for index in range(count):
        phrases = json.dumps([chance.choice(sentences)[:20] for _ in range(2)], ensure_ascii=False)
        settings = (
            f"kind: must_contain_any\n    phrases: {phrases}\n    weight: 2",
            "kind: regex\n    pattern: '\\b[0-9]{4}\\b'",
            f"kind: must_not_contain\n    phrases: {phrases}\n    required: true",
            "kind: latency\n    max_ms: 2000\n    weight: 0",
        )
        yield f"  - id: check_{index}\n    {settings[index % len(settings)]}\n"


def _judge(name: str, sentences: list[str]) -> Iterator[str]:
    yield f"id: {name}\nversion: 1.1.0\nscore_type: levels\nlevel_names: [no, partly, yes]\n"
    yield "template: |\n"
    yield from (f"  {sentence}\n" for sentence in sentences)
    yield "  Question: {{ input }}\n  Answer: {{ output }}\n"
    yield "  {{#expected}}\n  A good answer: {{ expected }}\n  {{/expected}}\n"
    yield "validation: {tpr: 0.93, tnr: 0.87, validated_against: labels.jsonl, "
    yield "validated_at: 2026-01-15, sample_size: 240}\n"


def _sentences(chance: Random) -> list[str]:
    words = _TEXT.split()
    return [" ".join(chance.choices(words, k=14)) + "." for _ in range(2000)]
