"""Documents of legal_eval rows: which are shown, and what is said of the others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fakes.office_files import docx, pptx, xlsx
from servers.in_thread import in_thread
from servers.notes import Notes
from servers.openai_server import COMPLETION, serving

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
ROW: dict[str, Any] = {
    "schema_version": "legal_eval_v1",
    "id": "r1",
    "dataset": "d",
    "task_type": "mcq",
    "prompt": "How long is the loan?",
    "context": "A library lends books.",
    "choices": [{"id": "A", "text": "Three weeks"}, {"id": "B", "text": "Four weeks"}],
    "correct_choice_ids": ["A"],
}
FILES = {
    "loan.docx": docx(),
    "fees.xlsx": xlsx('<row><c r="A1"><v>9</v></c></row>'),
    "talk.pptx": pptx("Return on time"),
    "terms.html": b"<p>No fee</p>",
    "fees.csv": b"fee,9",
}


def write_project(folder: Path, *paths: str, url: str = "http://127.0.0.1:1/v1") -> None:
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    (folder / "seal.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    row = {**ROW, "attachments": [{"path": path} for path in paths]}
    (folder / "cases.jsonl").write_text(json.dumps(row), encoding="utf-8")
    target = f'provider: openai, base_url: "{url}", model: m-1, price: {{input: 10, output: 1}}'
    project = f"targets: {{live: {{{target}}}}}"
    (folder / "steelyard.yaml").write_text(project, encoding="utf-8")


def test_office_files_stand_in_the_prompt(steelyard: Steelyard, tmp_path: Path) -> None:
    notes = Notes(COMPLETION)
    with in_thread(serving(notes.answer)) as url:
        write_project(tmp_path, *FILES, url=url)
        plan = steelyard(
            "run", "cases.jsonl", "--target", "live", "--plan", "--format", "json", cwd=tmp_path
        )
        done = steelyard("run", "cases.jsonl", "--target", "live", "--strict", cwd=tmp_path)

    assert done.returncode in {0, 1}, done.stderr
    sent = "".join(message["content"] for message in notes.body["messages"])
    for text in ("The loan is for three weeks.", "# Fees\n9", "Return on time", "No fee", "fee,9"):
        assert text in sent
    planned = json.loads(plan.stdout)
    assert planned["input_tokens"] == len(sent) // 4
    assert planned["cost_usd"] == pytest.approx(len(sent) // 4 * 10 / 1e6)


def test_a_document_of_another_kind_is_warned_of_and_counted(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    notes = Notes(COMPLETION)
    with in_thread(serving(notes.answer)) as url:
        write_project(tmp_path, "seal.png", "loan.docx", url=url)
        checked = steelyard("validate", "cases.jsonl", "--format", "json", cwd=tmp_path)
        done = steelyard(
            "run", "cases.jsonl", "--target", "live", "--format", "json", cwd=tmp_path
        )
        told = steelyard("show", "latest", cwd=tmp_path)

    assert checked.returncode == 0
    (found,) = json.loads(checked.stdout)["files"][0]["findings"]
    assert (found["severity"], found["code"]) == ("warning", "unsupported_format")
    assert found["path"] == "attachments[0].path"
    assert "seal.png (not shown)" in notes.body["messages"][-1]["content"]
    assert json.loads(done.stdout)["metrics"]["documents_not_shown"] == 1
    assert "1 document(s), named in the prompts as not shown" in told.stdout
    assert "seal.png is of a kind that no prompt shows" in done.stderr


def test_a_broken_office_file_is_an_error(steelyard: Steelyard, tmp_path: Path) -> None:
    write_project(tmp_path, "broken.docx")
    (tmp_path / "broken.docx").write_bytes(b"PK no archive")
    done = steelyard("validate", "cases.jsonl", "--format", "json", cwd=tmp_path)

    assert done.returncode == 1
    assert json.loads(done.stdout)["files"][0]["findings"][0]["code"] == "unreadable_file"
