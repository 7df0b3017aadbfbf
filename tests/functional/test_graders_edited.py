"""What grades is edited between two runs over the same answers: they are no one measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.claims_project import run_id, write_cases, write_responses, write_settings
from fakes.judged_desk import RUBRIC as JUDGED
from fakes.many_commands import Done, run_many

pytestmark = pytest.mark.trials

JSON = ("--format", "json")
CASES = "datasets/cases.jsonl"
SCRIPT = """\
import json, sys
import words
told = json.load(sys.stdin)
print(json.dumps({"score": float(words.GOOD in told["candidate_answer"])}))
"""
CHECKS = """\
id: {name}
version: 1.0.0
checks:
  - {{id: only, {check}}}
scoring: {{combine: all_pass}}
"""
PYTHON_JUDGE = """\
import json

def ask(prompt):
    return json.dumps({{"value": int({rule})}})
"""
SETTINGS = """\
targets:
  judge: {target}
judges: {{default: {{target: judge}}}}
allow: {{commands: true}}
"""
JUDGE = """\
id: right
version: 1.0.0
score_type: binary
template: "Is this right? {{ output }}"
"""


def project(root: Path, target: str = "{provider: echo}") -> Path:
    write_settings(root, SETTINGS.format(target=target))
    write_cases(root, 6)
    write_responses(root, {"a": ["y"] * 3 + ["n"] * 3})
    for folder in ("rubrics", "judges"):
        (root / folder).mkdir()
    (root / "judges" / "right.yaml").write_text(JUDGE, "utf-8")
    (root / "rubrics" / "quality.yaml").write_text(JUDGED, "utf-8")
    return root


def rubric(root: Path, name: str, check: str) -> None:
    (root / "rubrics" / f"{name}.yaml").write_text(CHECKS.format(name=name, check=check), "utf-8")


def started(root: Path, *words: str) -> str:
    command = ("run", CASES, "--responses", "responses.jsonl", *words, *JSON)
    (done,) = run_many(root, [command])
    assert done.code == 0, done.stderr
    return run_id(done.stdout)


def compared(root: Path, first: str, second: str) -> tuple[Done, list[str]]:
    pair = ("compare", first, second)
    strict, soft = run_many(root, [(*pair, "--strict"), (*pair, *JSON)])
    return strict, [one["what"] for one in json.loads(soft.stdout)["not_alike"]]


@pytest.mark.parametrize(
    "edited", [pytest.param("grade.py", marks=pytest.mark.trials), "words.py"]
)
@pytest.mark.parametrize(
    "script", ["[python3, grade.py]", pytest.param("python3 grade.py", marks=pytest.mark.trials)]
)
def test_a_program_that_grades_or_a_module_of_it_is_edited(
    tmp_path: Path, script: str, edited: str
) -> None:
    project(tmp_path)
    rubric(tmp_path, "graded", f"kind: command, script: {script}")
    (tmp_path / "grade.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "words.py").write_text("GOOD = 'yes'\n", "utf-8")
    words = ("--rubric", "rubric/graded@1.0.0")
    first, same = started(tmp_path, *words), started(tmp_path, *words)
    with (tmp_path / edited).open("a", encoding="utf-8") as file:
        file.write("GOOD = ''\n")
    second = started(tmp_path, *words)
    strict, not_alike = compared(tmp_path, first, second)

    assert compared(tmp_path, first, same)[0].code == 0
    assert (strict.code, not_alike) == (2, ["program"])
    assert f"{edited} (sha256 " in strict.stderr


def test_a_code_judge_of_eval_cases_is_edited(tmp_path: Path) -> None:
    project(tmp_path)
    evaluator = {"name": "g", "type": "code_judge", "script": ["python3", "grade.py"]}
    write_cases(tmp_path, 6, evaluators=[evaluator])
    script = tmp_path / "datasets" / "grade.py"
    script.write_text(SCRIPT.replace("import words\n", "").replace("words.GOOD", "'yes'"), "utf-8")
    first = started(tmp_path)
    script.write_text("print('{\"score\": 1}')\n", "utf-8")
    strict, not_alike = compared(tmp_path, first, started(tmp_path))

    assert (strict.code, not_alike) == (2, ["program"])
    assert "program: datasets/grade.py (sha256 " in strict.stderr


@pytest.mark.parametrize(
    "target", ["{provider: python, callable: 'jj:ask'}", "{provider: command, command: [sh, jj]}"]
)
def test_a_judge_that_is_a_program_is_edited(tmp_path: Path, target: str) -> None:
    project(tmp_path, target)
    words = ("--rubric", "rubric/quality@1.0.0")
    (tmp_path / "jj.py").write_text(PYTHON_JUDGE.format(rule="'yes' in prompt"), "utf-8")
    (tmp_path / "jj").write_text("grep -q yes && echo 1 || echo 0", "utf-8")
    first = started(tmp_path, *words)
    labels = [
        {"record_id": f"q{n}", "rubric": "right", "annotator": "ann", "exposure": "blind"}
        | {"passed": n < 3, "run_id": first}
        for n in range(6)
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)), "utf-8")
    validate = ("judge", "validate", "judge/right@1.0.0", "--labels", "labels.jsonl")
    rest = ("--run", first, "--split", "all", "--no-canaries", "--design", "random")
    run_many(tmp_path, [(*validate, *rest)])
    (tmp_path / "jj.py").write_text(PYTHON_JUDGE.format(rule="True"), "utf-8")
    (tmp_path / "jj").write_text("echo 1", "utf-8")
    second = started(tmp_path, *words)
    strict, not_alike = compared(tmp_path, first, second)
    known, unknown = run_many(tmp_path, [("show", first), ("show", second)])

    assert (strict.code, not_alike) == (2, ["judge"])
    assert "was validated as another instrument" not in known.stdout
    assert "was validated as another instrument" in unknown.stdout


def test_a_rubric_within_a_composite_is_edited(tmp_path: Path) -> None:
    project(tmp_path)
    rubric(tmp_path, "outer", "kind: composite, rubric_ref: rubric/inner@1.0.0")
    rubric(tmp_path, "inner", "kind: regex, pattern: 'yes'")
    words = ("--rubric", "rubric/outer@1.0.0")
    first, same = started(tmp_path, *words), started(tmp_path, *words)
    rubric(tmp_path, "inner", "kind: regex, pattern: 'yes|no'")
    strict, not_alike = compared(tmp_path, first, started(tmp_path, *words))

    assert compared(tmp_path, first, same)[0].code == 0
    assert (strict.code, not_alike) == (2, ["rubric"])
