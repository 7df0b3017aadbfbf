"""What a hidden field holds is found in no place of a run, whichever contract has it and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.many_commands import run_many

NAME, NUMBER = "Zaphod Beeblebrox", "Kunde-4711-ABCDEF"
ASKED = f"My name is {NAME}, my number {NUMBER}."
SETTINGS = """
redaction: {fields: [metadata.card, customer]}
retry: {max_attempts: 2, backoff_s: [0]}
targets: {told: {provider: python, callable: "agent:answer"}}
"""
AGENT = """
calls = []

def answer(prompt):
    calls.append(prompt)
    if len(calls) == 1:
        raise TimeoutError(f"no time for {prompt}")
    return f"You said: {prompt}"
"""
RUBRIC = """
id: any
version: 1.0.0
checks: [{id: names, kind: must_contain_any, phrases: [Zaphod]}]
scoring: {combine: all_pass}
"""


def document(record: dict[str, Any]) -> str:
    head = {"dataset_id": "desk", "dataset_version": "1", "schema_version": "1.0"}
    return json.dumps({**head, "records": [record]})


RECORD: dict[str, Any] = {
    "record_id": NUMBER,
    "input": {"prompt": ASKED, "customer": NAME},
    "metadata": {"card": NUMBER},
    "reference": {"answer": f"{NUMBER} of {NAME}"},
    "tags": [NUMBER],
}
LEGAL = {
    "schema_version": "legal_eval_v1",
    "id": "desk:1",
    "dataset": "desk",
    "task_type": "reference_qa",
    "prompt": ASKED,
    "metadata": {"card": NUMBER, "who": {"customer": NAME}},
    "reference_answers": [NAME],
}
CASE: dict[str, Any] = {
    "id": "a",
    "expected_outcome": f"Greets {NAME}",
    "input": ASKED,
    "tags": [NUMBER],
    "metadata": {"card": NUMBER},
    "evaluators": [{"name": f"names {NAME}", "type": "contains", "value": NAME}],
}
EVAL: dict[str, Any] = {
    "id": 1,
    "prompt": ASKED,
    "expected_output": NAME,
    "customer": [NUMBER, NAME],
}
PLACES = {
    "document.json": document(RECORD),
    "legal.jsonl": json.dumps(LEGAL),
    "top.jsonl": json.dumps({**CASE, "customer": {"name": NAME}}),
    "expected.jsonl": json.dumps({**CASE, "expected": {"customer": NAME}}),
    "cases.yaml": json.dumps({"tests": [{**CASE, "customer": NAME}]}),
    "evals.json": json.dumps({"skill_name": "desk", "evals": [EVAL]}),
}
BARE = ("document.json", "legal.jsonl", "evals.json")
"""Those of which no record says how it is graded."""


@pytest.mark.parametrize("name", PLACES)
def test_nothing_that_is_kept_or_shown_of_a_run_has_a_value_of_a_hidden_field(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "rubrics").mkdir()
    files = {"steelyard.yaml": SETTINGS, "agent.py": AGENT, "rubrics/any.yaml": RUBRIC}
    for path, text in {**files, name: PLACES[name]}.items():
        (tmp_path / path).write_text(f"{text}\n", encoding="utf-8")
    rubric = ("--rubric", "any") if name in BARE else ()
    run, *others = run_many(
        tmp_path,
        [
            ("run", name, "--target", "told", "--format", "json", *rubric),
            ("show", "latest", "--format", "json"),
            ("show", "latest", "0"),
            ("report", "latest", "-o", "page.html"),
            ("export", "latest", "-o", "rows.jsonl"),
            ("export", "latest", "--to", "csv"),
        ],
    )
    assert run.code == 0, run.stdout + run.stderr
    assert [one.code for one in others] == [0] * 5, others
    kept = [path for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()]
    made = [tmp_path / "page.html", tmp_path / "rows.jsonl"]
    said = {f"command {place}": one.stdout for place, one in enumerate(others)}
    texts = {str(path): path.read_bytes().decode("utf-8", "replace") for path in [*kept, *made]}

    assert [at for at, text in {**texts, **said}.items() if NAME in text or NUMBER in text] == []
    assert "You said: My name is [redacted:" in texts[str(tmp_path / "rows.jsonl")]


LONG = "Zaphod Beeblebrox, President of the Galaxy, retired"
INVALID: dict[str, dict[str, Any]] = {
    "in the wrong type": {"input": {"prompt": "Hello", "customer": LONG}, "tags": LONG},
    "as an id": {"record_id": NAME, "input": {"customer": NAME}},
}


@pytest.mark.parametrize("wrong", INVALID)
def test_what_is_said_of_an_invalid_record_quotes_no_hidden_field(
    tmp_path: Path, wrong: str
) -> None:
    records = [{"record_id": "b", **INVALID[wrong]}, {**RECORD, "record_id": "a"}]
    text = document(RECORD).replace(json.dumps([RECORD]), json.dumps(records))
    (tmp_path / "rubrics").mkdir()
    files = {"steelyard.yaml": SETTINGS, "agent.py": AGENT, "rubrics/any.yaml": RUBRIC}
    for path, content in {**files, "document.json": text}.items():
        (tmp_path / path).write_text(content, encoding="utf-8")
    (run,) = run_many(
        tmp_path,
        [("run", "document.json", "--target", "told", "--rubric", "any", "--format", "json")],
    )
    kept = [path for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()]
    folder = tmp_path / json.loads(run.stdout)["artifacts"]

    assert b'"rejected"' in (folder / "record_validation.jsonl").read_bytes()
    assert [str(path) for path in kept if b"Zaphod B" in path.read_bytes()] == []


def test_what_is_quoted_of_a_hidden_value_in_part_is_replaced_too(tmp_path: Path) -> None:
    wrong = {**LEGAL, "id": "desk:2", "task_type": LONG, "metadata": {"customer": LONG}}
    (tmp_path / "rubrics").mkdir()
    rows = f"{json.dumps(wrong)}\n{json.dumps(LEGAL)}\n"
    files = {"steelyard.yaml": SETTINGS, "rubrics/any.yaml": RUBRIC, "d.jsonl": rows}
    for path, content in files.items():
        (tmp_path / path).write_text(content, encoding="utf-8")
    command = ("run", "d.jsonl", "--target", "echo", "--rubric", "any", "--format", "json")
    (run,) = run_many(tmp_path, [command])
    folder = tmp_path / json.loads(run.stdout)["artifacts"]
    kept = [path for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()]

    assert b"not '[redacted:customer]..." in (folder / "failures.jsonl").read_bytes()
    assert [str(path) for path in kept if b"Zaphod B" in path.read_bytes()] == []


def test_the_copy_of_a_document_keeps_marks_for_hidden_values(tmp_path: Path) -> None:
    (tmp_path / "rubrics").mkdir()
    record = {**RECORD, "record_id": "a", "input": {"prompt": f"My number is {NUMBER}."}}
    files = {"steelyard.yaml": SETTINGS, "rubrics/any.yaml": RUBRIC, "d.json": document(record)}
    for path, content in files.items():
        (tmp_path / path).write_text(content, encoding="utf-8")
    command = ("run", "d.json", "--target", "echo", "--rubric", "any", "--format", "json")
    (run,) = run_many(tmp_path, [command])
    folder = tmp_path / json.loads(run.stdout)["artifacts"]
    (kept,) = json.loads((folder / "input_dataset.json").read_bytes())["records"]

    assert kept["input"] == {"prompt": "My number is [redacted:metadata.card]."}
    assert kept["reference"] == {"answer": f"[redacted:metadata.card] of {NAME}"}
    assert kept["tags"] == ["[redacted:metadata.card]"]
    assert kept["metadata"] == {"card": "[redacted:metadata.card]"}
