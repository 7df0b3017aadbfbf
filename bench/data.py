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


def _written(name: str, lines: Iterator[str]) -> Path:
    """Write a file once; a half-written one never takes its name."""
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
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


def _sentences(chance: Random) -> list[str]:
    words = _TEXT.split()
    return [" ".join(chance.choices(words, k=14)) + "." for _ in range(2000)]
