"""Facts and phrases in recorded responses, from the command line to the manifest."""

from __future__ import annotations

import json
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., subprocess.CompletedProcess[str]]
OPPOSITES = {
    "It isn't free": "It is free",
    "Dogs can't enter": "Dogs can enter",
    "They won't pay": "They will pay",
    "-40 EUR": "40 EUR",
    "10 %": "10 EUR",
    "€5": "$5",
    "is no longer open": "is open",
    "is not currently open": "is open",
    "is not at all allowed": "is allowed",
    "the value is > 10": "the value is >= 10",
    "the fee is 5 million": "the fee is 5",
    "see Article 5a": "see Article 5",
    "it has 5k": "it has 5",
}
FORBIDDEN = """\
id: forbidden
version: 1.0.0
checks:
  - {id: said, kind: must_not_contain, phrases: [café, "I'm sorry", well-known]}
  - {id: curly, kind: must_contain_any, phrases: ["“quoted”"], negate: true}
scoring: {combine: all_pass}
"""
SAID = (
    unicodedata.normalize("NFD", "in the café"),
    "“I’m sorry”, it said",
    "a well\N{NON-BREAKING HYPHEN}known one",
    "fine",
)


def graded(
    steelyard: Command, root: Path, rows: list[dict[str, Any]], said: list[str], *words: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The predictions and the manifest of a run over recorded responses."""
    questions = [{"id": f"q{number}", "input": "?", **row} for number, row in enumerate(rows)]
    content = {"id": "s", "version": "1.0.0", "questions": questions}
    responses = [
        {"record_id": f"q{number}", "candidate_name": "ann", "response_text": text}
        for number, text in enumerate(said)
    ]
    (root / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    (root / "set.json").write_text(json.dumps(content), encoding="utf-8")
    (root / "said.json").write_text(json.dumps(responses), encoding="utf-8")
    run = ("run", "set.json", "--responses", "said.json", "--format", "json", *words)
    done = steelyard(*run, cwd=root)
    assert done.returncode == 0, done.stderr
    folder = Path(json.loads(done.stdout)["artifacts"])
    lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    manifest = json.loads((folder / "run_manifest.json").read_text(encoding="utf-8"))
    return [json.loads(line) for line in lines], manifest


def test_the_opposite_is_not_the_fact(steelyard: Command, tmp_path: Path) -> None:
    facts: list[dict[str, Any]] = [{"expected_facts": [fact]} for fact in OPPOSITES]
    rows, manifest = graded(
        steelyard, tmp_path, [*facts, *facts], [*OPPOSITES.values(), *OPPOSITES]
    )

    assert [row["score"] for row in rows] == [0.0] * len(facts) + [1.0] * len(facts)
    assert manifest["graders"] == {"fact_match": 3}


def test_phrases_are_found_in_every_way_to_write_them(steelyard: Command, tmp_path: Path) -> None:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics/forbidden.yaml").write_text(FORBIDDEN, encoding="utf-8")
    words = ("--rubric", "rubric/forbidden@1.0.0")
    rows, manifest = graded(steelyard, tmp_path, [{}] * 5, [*SAID, 'in "quoted" marks'], *words)

    assert [row["passed"] for row in rows] == [False, False, False, True, True]
    assert manifest["graders"] == {"must_contain_any": 2, "must_not_contain": 2}


CHOSEN = {
    "C is the correct answer.": "C",
    "I choose D": "D",
    r"The answer is \boxed{C}": "C",
    "The best answer would be B": "B",
    "My choice: D": "D",
    "Die richtige Antwort ist C.": "C",
    "La réponse correcte est B": "B",
    "I would choose option B because option A is invalid.": "B",
    "Option A is invalid.": None,
    "I don't think the answer is A": None,
    "I doubt that the answer is A.": None,
    "It's false that option A is correct.": None,
    "It is not true that A is correct": None,
    "Many would say the answer is A, but that is wrong.": None,
    "The answer is A? No.": None,
    "It would be wrong to say the answer is A.": None,
    "Option A looks right at first but fails.": None,
    '{"answer": "A or B"}': None,
    "The answer is A or B": None,
    "Between A and C, C is correct": "C",
    "<answer>C</answer>": "C",
    "It's C": "C",
}


def test_choices_are_found_and_answers_without_one_are_counted(
    steelyard: Command, tmp_path: Path
) -> None:
    choices = [{"id": name, "text": f"text {name}"} for name in "ABCD"]
    head = {
        "schema_version": "legal_eval_v1",
        "dataset": "d",
        "task_type": "mcq",
        "prompt": "Which?",
        "choices": choices,
        "correct_choice_ids": ["A"],
    }
    rows = [
        {
            **head,
            "id": f"q{number}",
            "metadata": {"language": answer[:2]},
        }
        for number, answer in enumerate(CHOSEN)
    ]
    said = [
        {"record_id": f"q{number}", "candidate_name": "ann", "response_text": answer}
        for number, answer in enumerate(CHOSEN)
    ]
    (tmp_path / "steelyard.yaml").write_text("slices: [metadata.language]\n", encoding="utf-8")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "mcq.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "said.json").write_text(json.dumps(said), encoding="utf-8")
    words = ("run", "mcq.jsonl", "--responses", "said.json", "--format", "json")
    run = json.loads(steelyard(*words, cwd=tmp_path).stdout)
    folder = Path(run["artifacts"])
    predictions = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    details = [json.loads(line)["evaluator_scores"][0]["details"] for line in predictions]
    slices = json.loads((folder / "metrics_by_slice.json").read_text(encoding="utf-8"))["slices"]
    manifest = json.loads((folder / "run_manifest.json").read_text(encoding="utf-8"))

    assert [one["selected"] for one in details] == [
        [name] if name else [] for name in CHOSEN.values()
    ]
    assert (run["metrics"]["no_choice"], run["metrics"]["choice_answers"]) == (11, 22)
    counted = {row["value"]: row["no_choice"] for row in slices}
    assert (counted["Op"], counted["C "]) == (2, 0)
    told = "11 of 22 answers select no choice and count as wrong (50.0 %); check them"
    assert told in steelyard("show", "latest", cwd=tmp_path).stdout
    steelyard("report", "latest", "-o", "r.html", cwd=tmp_path)
    assert told in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert manifest["graders"] == {"choice": 1, "choice_ladder": 3}
    assert [(one["policy"], one["revision"]) for one in manifest["policies"]] == [
        ("default_v1", 2)
    ]
