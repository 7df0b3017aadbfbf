"""What was not carried out never counts as passed, from the command line to the exit code."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.trials

Command = Callable[..., subprocess.CompletedProcess[str]]
PROJECT = """\
targets:
  judge: {provider: python, callable: "people:judge"}
  silent: {provider: python, callable: "people:silent"}
judges:
  default: {target: judge}
"""
PEOPLE = """\
import json
import re


def judge(prompt: str) -> str:
    keys = re.findall('under the key "([a-z0-9_]+)"', prompt)
    values = {key: "cannot_judge" if key == "hard" else 1 for key in keys}
    parts = {"evidence": "", "reasoning": ""}
    return json.dumps({"answers": {key: {**parts, "value": values[key]} for key in keys}})


def silent(prompt: str) -> str:
    raise RuntimeError("no reply")
"""
JUDGE = "{id: tone, version: 1.0.0, template: 'Is {{ output }} polite?', score_type: continuous}\n"
QUESTIONS = """\
name: Quality
version: quality-v1
scale: 0-1
questions:
  - {key: easy, label: Is it good?, type: score}
  - {key: hard, label: Is it right?, type: score, required: REQUIRED}
"""
JURY = """\
  - id: jury
    kind: llm_judge
    jury:
      judges:
        - {judge_prompt_ref: judge/tone@1.0.0, weight: WEIGHT, target: silent}
        - {judge_prompt_ref: judge/tone@1.0.0, weight: 0}
"""
PHP = """\
  - {id: says, kind: must_contain_any, phrases: [echo]}
  - {id: php, kind: php_lint, required: REQUIRED}
"""
HEAVY = """\
  - {id: one, kind: must_contain_any, phrases: [echo], weight: 1.0e+308}
  - {id: two, kind: must_contain_any, phrases: [absent], weight: 1.0e+308}
"""


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_project(root: Path, rubric: str) -> None:
    """A project whose rubric is called rubric/quality-v1 or rubric/r@1.0.0."""
    checks = "id: r\nversion: 1.0.0\nchecks:\n{}scoring: {{combine: weighted_avg}}\n"
    write(root, "steelyard.yaml", PROJECT)
    write(root, "people.py", PEOPLE)
    write(root, "judges/tone.yaml", JUDGE)
    write(root, "rubrics/r.yaml", rubric if "name:" in rubric else checks.format(rubric))
    prompts = [f"```php\necho {number};\n```" for number in range(1, 12)]
    rows = [{"id": f"q{n}", "input": prompt} for n, prompt in enumerate(prompts, start=1)]
    write(root, "set.json", json.dumps({"id": "s", "version": "1.0.0", "questions": rows}))


def graded(
    steelyard: Command, root: Path, rubric: str, *words: str, ref: str = "rubric/r@1.0.0"
) -> tuple[int, dict[str, Any]]:
    """The exit code and the metrics of a run under a rubric."""
    write_project(root, rubric)
    said = ("run", "set.json", "--target", "echo", "--rubric", ref, "--format", "json")
    done = steelyard(*said, *words, cwd=root)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)["metrics"]


@pytest.mark.parametrize(("required", "code", "evaluated"), [("true", 4, 0), ("false", 0, 11)])
def test_a_required_question_without_an_answer_leaves_no_score(
    steelyard: Command, tmp_path: Path, required: str, code: int, evaluated: int
) -> None:
    rubric = QUESTIONS.replace("REQUIRED", required)
    found = graded(steelyard, tmp_path, rubric, ref="rubric/quality-v1")

    assert found[0] == code
    assert (found[1]["evaluated_records"], found[1]["unscored_count"]) == (
        evaluated,
        11 - evaluated,
    )


@pytest.mark.parametrize(("required", "code", "evaluated"), [("true", 4, 0), ("false", 0, 11)])
def test_a_required_check_without_its_program_leaves_no_score(
    steelyard: Command, tmp_path: Path, required: str, code: int, evaluated: int
) -> None:
    rubric = PHP.replace("REQUIRED", required)
    found = graded(steelyard, tmp_path, rubric, "--strict", "--fail-under", "1")
    gone = 11 - evaluated

    # without any score there is no pass rate that could reach the gate
    assert found[0] == (code if evaluated else 1)
    assert (found[1]["evaluated_records"], found[1]["unscored_count"]) == (evaluated, gone)
    assert found[1]["checks"]["php"]["skipped"] == evaluated
    assert found[1]["checks"]["php"]["unscored"] == gone


def test_a_check_that_was_left_out_is_told_in_the_summary(
    steelyard: Command, tmp_path: Path
) -> None:
    graded(steelyard, tmp_path, PHP.replace("REQUIRED", "false"))

    assert (
        "php  – (nothing evaluated)  n = 0, 11 skipped"
        in steelyard("show", "latest", cwd=tmp_path).stdout
    )


def test_a_juror_of_weight_0_decides_nothing(steelyard: Command, tmp_path: Path) -> None:
    code, metrics = graded(steelyard, tmp_path, JURY.replace("WEIGHT", "1"))

    assert (code, metrics["evaluated_records"], metrics["unscored_count"]) == (4, 0, 11)


def test_a_jury_without_weight_is_an_error_of_its_rubric(
    steelyard: Command, tmp_path: Path
) -> None:
    write_project(tmp_path, JURY.replace("WEIGHT", "0"))
    done = steelyard("validate", "rubrics/r.yaml", cwd=tmp_path)

    assert done.returncode == 1
    assert "every juror of checks[0].jury.judges has weight 0" in done.stdout


HEAVY_RUBRICS = {
    "checks": HEAVY,
    "jurors": JURY.replace("WEIGHT", "1.0e+308").replace("0}", "1.0e+308}"),
    "questions": QUESTIONS.replace("REQUIRED", "false")
    + "scoring: {questions: {easy: 1.0e+308, hard: -1.0e+308}}\n",
}


@pytest.mark.parametrize("who", HEAVY_RUBRICS)
def test_weights_that_no_sum_can_hold_are_errors_of_the_rubric(
    steelyard: Command, tmp_path: Path, who: str
) -> None:
    write_project(tmp_path, HEAVY_RUBRICS[who])
    done = steelyard("validate", "rubrics/r.yaml", cwd=tmp_path)

    assert done.returncode == 1
    assert "must be at most 1e+300" in done.stdout


@pytest.mark.parametrize("weight", ["5000000", "1.0e+300", "1" + 60 * "0"])
def test_the_largest_weights_are_averaged(steelyard: Command, tmp_path: Path, weight: str) -> None:
    code, metrics = graded(steelyard, tmp_path, HEAVY.replace("1.0e+308", weight))

    assert (code, metrics["evaluated_records"], metrics["score"]["value"]) == (0, 11, 0.5)


@pytest.mark.parametrize(
    ("weights", "mean"), [((1e300, 10**60), 1.0), ((1, -3), 0.0), ((1, -1e300), 0.0)]
)
def test_a_slice_has_one_mean_whatever_the_weights_of_criteria(
    steelyard: Command, tmp_path: Path, weights: tuple[float, float], mean: float
) -> None:
    write_project(tmp_path, HEAVY)
    head = {"schema_version": "legal_eval_v1", "dataset": "d", "task_type": "rubric_qa"}
    criteria = [{"id": f"c{n}", "title": "So", "weight": one} for n, one in enumerate(weights)]
    rows = [
        {**head, "id": "mixed", "prompt": "?", "rubric": criteria},
        {**head, "id": "plain", "prompt": "?", "rubric": [{"id": "c", "title": "So"}]},
    ]
    write(tmp_path, "legal.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    words = ("run", "legal.jsonl", "--target", "echo", "--format", "json")
    done = steelyard(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = Path(json.loads(done.stdout)["artifacts"])
    slices = json.loads((folder / "metrics_by_slice.json").read_text(encoding="utf-8"))["slices"]
    (found,) = (row for row in slices if row["value"] == "rubric_qa")

    assert found["score"]["value"] == found["checks"]["criteria"]["mean_score"] == mean


def _install_policy(installed: Path, *parts: str) -> dict[str, str]:
    """A package with the policy `my_exam_v1`; what makes the command find it."""
    shown = [*parts, "{{context}}", "{{attachments}}", "{{prompt}}", "{{choices}}"]
    policy = {"id": "my_exam_v1", "description": "Ours.", "user": shown}
    write(installed, "exams.py", f"POLICIES = [{policy!r}]\n")
    write(installed, "exams-1.0.dist-info/METADATA", "Name: exams\nVersion: 1.0\n")
    points = "[steelyard.policies]\nexams = exams:POLICIES\n"
    write(installed, "exams-1.0.dist-info/entry_points.txt", points)
    return {"PYTHONPATH": str(installed)}


EXAM = {
    "schema_version": "legal_eval_v1",
    "id": "a",
    "dataset": "d",
    "task_type": "reference_qa",
    "prompt": "?",
    "reference_answers": ["So."],
    "metadata": {"policy_id": "my_exam_v1"},
}


def test_a_policy_of_a_package_is_known_wherever_rows_are_read(
    steelyard: Command, tmp_path: Path
) -> None:
    with_package = _install_policy(tmp_path / "installed")
    write_project(tmp_path, HEAVY)
    write(tmp_path, "legal.jsonl", json.dumps(EXAM) + "\n")
    checked = steelyard("validate", "legal.jsonl", cwd=tmp_path, env=with_package)
    words = ("run", "legal.jsonl", "--target", "echo", "--format", "json")
    run = steelyard(*words, cwd=tmp_path, env=with_package)
    folder = Path(json.loads(run.stdout)["artifacts"])
    manifest = json.loads((folder / "run_manifest.json").read_text(encoding="utf-8"))

    assert "my_exam_v1" not in checked.stdout + checked.stderr + run.stderr
    assert [one["policy"] for one in manifest["policies"]] == ["my_exam_v1"]
    assert manifest["schema_version"] == "legal_eval_v1"
    assert "is no policy" in steelyard("validate", "legal.jsonl", cwd=tmp_path).stdout


def test_two_texts_under_the_id_of_one_policy_are_two_measurements(
    steelyard: Command, tmp_path: Path
) -> None:
    write_project(tmp_path, HEAVY)
    write(tmp_path, "legal.jsonl", json.dumps(EXAM) + "\n")
    for name, text in (("old", "Be brief."), ("new", "Be thorough.")):
        package = _install_policy(tmp_path / name, text)
        done = steelyard("run", "legal.jsonl", "--target", "echo", cwd=tmp_path, env=package)
        assert done.returncode in {0, 4}
    strict = steelyard("compare", "latest~1", "latest", "--strict", cwd=tmp_path)
    page = json.loads(
        steelyard("compare", "latest~1", "latest", "--format", "json", cwd=tmp_path).stdout
    )

    assert strict.returncode == 2
    assert "policy: my_exam_v1 (sha256" in strict.stderr
    assert [one["what"] for one in page["not_alike"]] == ["policy"]


def test_underlined_headings_are_headings(steelyard: Command, tmp_path: Path) -> None:
    rubric = (
        "  - {id: shape, kind: markdown_structure, min_headings: 2, required_sections: [Fee]}\n"
    )
    write_project(tmp_path, rubric)
    row = {"id": "q", "input": "Opening\n=======\n\nThe fee\n---\nTen.\n"}
    write(tmp_path, "set.json", json.dumps({"id": "s", "version": "1.0.0", "questions": [row]}))
    words = ("run", "set.json", "--target", "echo", "--rubric", "rubric/r@1.0.0")
    done = steelyard(*words, "--format", "json", cwd=tmp_path)

    assert json.loads(done.stdout)["metrics"]["pass_count"] == 1


SAYS = "  - {id: says, kind: must_contain_any, phrases: [echo]}\n"
LIMITS = {
    "cost": "kind: cost, max_usd: 1",
    "token_usage": "kind: token_usage, max_total: 5",
    "field_accuracy": "kind: field_accuracy, fields: [{path: a, match: exact}]",
    "composite": "kind: composite, rubric_ref: rubric/soft@1.0.0",
}


@pytest.mark.parametrize(("required", "expected"), [("true", (4, 0)), ("false", (0, 11))])
@pytest.mark.parametrize("kind", LIMITS)
def test_a_required_limit_that_could_not_be_looked_at_leaves_no_score(
    steelyard: Command, tmp_path: Path, kind: str, required: str, expected: tuple[int, int]
) -> None:
    """The echo has no price and counts no tokens; the cases have no reference; php may not run."""
    soft = "id: soft\nversion: 1.0.0\nchecks:\n{}scoring: {{combine: weighted_avg}}\n"
    write(tmp_path, "rubrics/soft.yaml", soft.format(PHP.replace("REQUIRED", "false")))
    entry = f"  - {{id: limit, {LIMITS[kind]}, required: {required}}}\n"
    code, metrics = graded(steelyard, tmp_path, SAYS + entry)

    assert (code, metrics["evaluated_records"]) == expected


CASES = """\
tests:
  - id: a
    input: hello
    assertions:
      - {type: contains, value: hello}
      - {LIMIT, required: REQUIRED}
"""


@pytest.mark.parametrize(("required", "evaluated"), [("true", 0), ("false", 1)])
@pytest.mark.parametrize(
    "limit",
    [
        "type: cost, budget: 0.01",
        "type: token_usage, max_total: 5",
        "type: execution_metrics, max_tokens: 5, max_tool_calls: 3",
        "type: field_accuracy, fields: [{path: a, match: exact}]",
    ],
)
def test_a_required_limit_of_an_eval_case_is_looked_at_or_leaves_no_score(
    steelyard: Command, tmp_path: Path, limit: str, required: str, evaluated: int
) -> None:
    write(tmp_path, "steelyard.yaml", PROJECT)
    write(tmp_path, "cases.yaml", CASES.replace("LIMIT", limit).replace("REQUIRED", required))
    done = steelyard("run", "cases.yaml", "--target", "echo", "--format", "json", cwd=tmp_path)

    assert json.loads(done.stdout)["metrics"]["evaluated_records"] == evaluated
    if "execution_metrics" in limit:
        (rows,) = tmp_path.glob(".steelyard/runs/*/predictions.jsonl")
        said = json.loads(rows.read_text(encoding="utf-8"))["evaluator_scores"][1]["reason"]
        assert "not looked at: max_tokens: the target did not count its total tokens" in said
