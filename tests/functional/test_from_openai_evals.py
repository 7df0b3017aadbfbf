"""Moving from OpenAI Evals: the same verdicts, from the registry and the log to a number."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
BASIC = "evals.elsuite.basic"
# What the graders of the original say of these answers.
VERDICTS: dict[tuple[str, str], list[tuple[Any, str, bool]]] = {
    ("match:Match", ""): [
        ("Lima", "Lima, of course", True),
        ("Lima", " Lima", False),
        ("Lima", "lima", False),
        ("It's", "It’s", False),
        (["N.", "Mexico"], "Mexico City", True),
        (["N.", "Mexico"], "Now", False),
        ("a\nb", "a\nb c", True),
    ],
    ("includes:Includes", ""): [
        ("Lima", "It is Lima.", True),
        ("Lima", "It is LIMA.", False),
        (["(a)", "b+"], "either (a) or c", True),
        (["(a)", "b+"], "bb", False),
    ],
    ("includes:Includes", "ignore_case"): [("Lima", "It is LIMA.", True), ("Lima", "Rome", False)],
    ("fuzzy_match:FuzzyMatch", ""): [
        ("The Lima", "lima!", True),
        ("Lima", "the capital, Lima, by the sea", True),
        (["Rome", "city of Lima"], "Lima", True),
        ("Lima", "Rome", False),
        ("Lima", "", False),
    ],
    ("json_match:JsonMatch", ""): [
        ('{"a": 1, "b": [1, 2]}', '{"b": [1, 2], "a": 1.0}', True),
        ('{"a": 1}', '{"a": 1, "b": 2}', False),
        (['{"a": 1}', "[1]"], "[1]", True),
        ('{"a": null}', '{"a": null}', False),
        ('{"a": 1}', '```json\n{"a": 1}\n```', False),
        ('{"a": 1}', "no JSON", False),
    ],
}


def _registry(folder: Path) -> list[tuple[str, str, bool]]:
    """Write a registry with every grader; the answers by the ids of their samples."""
    evals: dict[str, Any] = {}
    said: list[tuple[str, str, bool]] = []
    for number, ((grader, flag), rows) in enumerate(VERDICTS.items()):
        name = f"grader-{number}.dev"
        data = folder / "registry" / "data" / f"{number}.jsonl"
        data.parent.mkdir(parents=True, exist_ok=True)
        samples = [{"input": f"Question {n}?", "ideal": row[0]} for n, row in enumerate(rows)]
        data.write_text("".join(json.dumps(one) + "\n" for one in samples), encoding="utf-8")
        args = {"samples_jsonl": data.name, **({flag: True} if flag else {})}
        evals[f"{name}.v0"] = {"class": f"{BASIC}.{grader}", "args": args}
        said += [(f"{name}.{n}", answer, passed) for n, (_, answer, passed) in enumerate(rows)]
    (folder / "registry" / "evals").mkdir()
    text = json.dumps(evals)
    (folder / "registry" / "evals" / "all.yaml").write_text(text, encoding="utf-8")
    return said


def _log(path: Path, said: list[tuple[str, str, bool]]) -> None:
    lines: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m-1"], "eval_name": "all"}}]
    for sample, answer, passed in reversed(said):
        data = {"prompt": [{"role": "user", "content": "Question?"}], "sampled": [answer]}
        lines.append({"sample_id": sample, "type": "sampling", "data": data})
        lines.append({"sample_id": sample, "type": "match", "data": {"correct": passed}})
    lines.append({"final_report": {"accuracy": 0.5}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def made(steelyard: Steelyard, tmp_path: Path) -> dict[str, bool]:
    """Which records passed, after the commands of the guide."""
    said = _registry(tmp_path)
    _log(tmp_path / "log.jsonl", said)
    source = ["--from", "openai-evals", "--to"]
    cases = steelyard(
        *("convert", "registry/evals/all.yaml", *source, "eval_cases", "-o", "cases.yaml"),
        cwd=tmp_path,
    )
    responses = steelyard(
        *("convert", "log.jsonl", *source, "responses", "-o", "responses.jsonl"), cwd=tmp_path
    )
    steelyard("run", "cases.yaml", "--responses", "responses.jsonl", cwd=tmp_path)
    shown = steelyard("export", "latest", "--to", "jsonl", "-o", "out.jsonl", cwd=tmp_path)

    assert (cases.returncode, responses.returncode, shown.returncode) == (0, 0, 0)
    rows = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["record_id"]: row["passed"] for row in map(json.loads, rows)}


def test_a_log_gets_the_verdicts_of_the_originals(made: dict[str, bool], tmp_path: Path) -> None:
    log = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    events = [event for event in map(json.loads, log) if event.get("type") == "match"]
    logged = {event["sample_id"]: event["data"]["correct"] for event in events}

    assert made == logged
