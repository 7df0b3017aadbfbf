"""A rubric that calls itself published is fixed by its first run or label."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.many_commands import Done, run_many

PROJECT = """\
targets:
  desk: {provider: recorded, path: responses.jsonl}
  people: {provider: recorded, path: replies.jsonl}
judges: {default: {target: people}}
"""
RUBRIC = """\
name: Desk
version: desk-v1
status: {status}
questions:
  - {{key: fine, label: Is it fine?, type: yes_no}}
scoring: {{questions: {{fine: {weight}}}}}
"""
RUN = ("run", "cases.jsonl", "--target", "desk", "--rubric", "rubric/desk-v1")
IMPORT = ("review", "import", "labels.jsonl", "--run", "latest")
AGREEMENT = ("review", "agreement", "--format", "json")


def rubric(root: Path, status: str, weight: int = 1, folder: str = "rubrics") -> None:
    (root / folder).mkdir(exist_ok=True)
    text = RUBRIC.format(status=status, weight=weight)
    (root / folder / "desk-v1.yaml").write_text(text, encoding="utf-8")


def rows(path: Path, made: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    names = [f"q{number}" for number in range(4)]
    (tmp_path / "steelyard.yaml").write_text(PROJECT, encoding="utf-8")
    answer = {"answers": {"fine": {"evidence": "", "reasoning": "", "value": 1}}}
    rows(
        tmp_path / "cases.jsonl",
        [{"id": name, "expected_outcome": "Yes.", "input": name} for name in names],
    )
    rows(
        tmp_path / "responses.jsonl",
        [{"record_id": name, "response_text": "Yes."} for name in names],
    )
    rows(
        tmp_path / "replies.jsonl",
        [
            {
                "record_id": name,
                "judge": "questionnaire",
                "check": "questions",
                "question": "fine",
                "response_text": json.dumps(answer),
            }
            for name in names
        ],
    )
    rows(
        tmp_path / "labels.jsonl",
        [
            {
                "record_id": name,
                "rubric": "rubric/desk-v1",
                "annotator": "ada",
                "exposure": "blind",
                "answers": {"trace": {"fine": 1}},
            }
            for name in names
        ],
    )
    return tmp_path


def only(root: Path, *words: str) -> Done:
    (done,) = run_many(root, [words])
    return done


def test_a_published_rubric_that_a_run_used_may_not_change(desk: Path) -> None:
    rubric(desk, "published")
    assert only(desk, *RUN).code == 0
    rubric(desk, "published", weight=-1)
    valid, run, labels = run_many(desk, [("validate", "rubrics"), RUN, IMPORT])

    assert (valid.code, run.code, labels.code) == (1, 2, 1)
    assert "version_conflict" in valid.stdout
    assert "is not what was published as rubric/desk-v1" in run.stderr


def test_one_that_lies_elsewhere_may_not_change_either(desk: Path) -> None:
    by_path = (*RUN[:-1], "mine/desk-v1.yaml")
    rubric(desk, "published", folder="mine")
    first, labels = run_many(desk, [by_path, IMPORT])
    rubric(desk, "published", weight=-1, folder="mine")
    valid, run = run_many(desk, [("validate", "mine/desk-v1.yaml"), by_path])
    agreement = json.loads(only(desk, *AGREEMENT).stdout)["rubrics"][0]

    assert (first.code, labels.code) == (0, 0)
    assert (valid.code, run.code) == (1, 2)
    assert "version_conflict" in valid.stdout
    assert "is not what was published as rubric/desk-v1" in run.stderr
    assert (agreement["labels"], agreement["notes"]) == (4, [])


def test_labels_that_only_say_passed_are_not_read_anew(desk: Path) -> None:
    rubric(desk, "draft")
    rows(
        desk / "labels.jsonl",
        [
            {
                "record_id": "q0",
                "rubric": name,
                "annotator": "ada",
                "exposure": "blind",
                "passed": True,
            }
            for name in ("rubric/desk-v1", "rubric/plain@1.0.0")
        ],
    )
    plain = (
        "id: plain\nversion: 1.0.0\nscoring: {{combine: all_pass}}\n"
        "checks: [{{id: a, kind: is_json, weight: {weight}}}]\n"
    )
    (desk / "rubrics" / "plain.yaml").write_text(plain.format(weight=1), encoding="utf-8")
    assert [done.code for done in run_many(desk, [RUN, IMPORT])] == [0, 0]
    rubric(desk, "draft", weight=-1)
    (desk / "rubrics" / "plain.yaml").write_text(plain.format(weight=2), encoding="utf-8")
    found = json.loads(only(desk, *AGREEMENT).stdout)["rubrics"]

    assert [(one["labels"], one["notes"]) for one in found] == [
        (0, ["1 label(s) were given under other content of the rubric"])
    ] * 2


CHECKS = """\
id: chk
version: 1.0.0
status: published
checks:
  - {{id: said, kind: must_contain_any, phrases: [{phrase}]}}
  - {{id: tone, kind: llm_judge, judge_prompt_ref: judge/tone@1.0.0}}
scoring: {{combine: all_pass}}
"""
JUDGE = """\
id: tone
version: 1.0.0
status: published
score_type: binary
template: "{text} {{{{ output }}}}"
"""


def checks_and_judge(root: Path, phrase: str = "yes", text: str = "Kind?") -> None:
    for folder, name, content in (
        ("rubrics", "chk", CHECKS.format(phrase=phrase)),
        ("judges", "tone", JUDGE.format(text=text)),
    ):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / f"{name}.yaml").write_text(content, encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "reference"),
    [({"phrase": "no"}, "rubric/chk@1.0.0"), ({"text": "Rude?"}, "judge/tone@1.0.0")],
)
def test_published_checks_and_judges_that_a_run_used_may_not_change(
    desk: Path, changed: dict[str, str], reference: str
) -> None:
    reply = json.dumps({"evidence": "", "reasoning": "", "verdict": "pass"})
    rows(
        desk / "replies.jsonl",
        [
            {"record_id": f"q{n}", "judge": "tone", "check": "tone", "response_text": reply}
            for n in range(4)
        ],
    )
    checks_and_judge(desk)
    run = (*RUN[:-1], "rubric/chk@1.0.0")
    first, unchanged = run_many(desk, [run, ("validate", "rubrics", "judges")])
    checks_and_judge(desk, **changed)
    valid, again = run_many(desk, [("validate", "rubrics", "judges"), run])

    assert (first.code, unchanged.code) == (0, 0), first.stderr
    assert (valid.code, again.code) == (1, 2)
    assert "version_conflict" in valid.stdout
    assert f"is not what was published as {reference}" in again.stderr


def test_a_lower_minor_version_may_not_move_scores_either(desk: Path) -> None:
    text = "id: p\nversion: {}\nchecks: [{{id: c, kind: must_contain_any, phrases: [{}]}}]\n"
    (desk / "rubrics").mkdir()
    for version, phrase in (("1.5.0", "hello"), ("1.4.0", "bye"), ("1.3.0", "hello")):
        content = text.format(version, phrase) + "scoring: {combine: all_pass}\n"
        (desk / f"rubrics/p@{version}.yaml").write_text(content, encoding="utf-8")
    names = [f"rubrics/p@{version}.yaml" for version in ("1.5.0", "1.4.0", "1.3.0")]
    higher, lower, same = run_many(desk, [("rubric", "publish", name) for name in names])

    assert (higher.code, lower.code, same.code) == (0, 1, 0)
    assert "what changed can move scores, and this is a minor version" in lower.stderr


def test_one_that_nothing_used_is_free_to_change(desk: Path) -> None:
    rubric(desk, "published")
    assert only(desk, "validate", "rubrics").code == 0
    rubric(desk, "published", weight=-1)

    assert only(desk, "validate", "rubrics").code == 0


def test_a_label_fixes_it_as_well(desk: Path) -> None:
    rubric(desk, "draft")
    assert only(desk, *RUN).code == 0
    rubric(desk, "published")
    assert only(desk, *IMPORT).code == 0
    rubric(desk, "published", weight=-1)

    assert only(desk, "validate", "rubrics").code == 1


def test_labels_of_other_content_are_left_out_and_counted(desk: Path) -> None:
    rubric(desk, "draft")
    assert [done.code for done in run_many(desk, [RUN, IMPORT])] == [0, 0]
    rubric(desk, "draft", weight=-1)
    validate = ("judge", "validate", "judge/questionnaire@1.0", "--run", "latest")
    agreement, validation = run_many(desk, [AGREEMENT, (*validate, "--split", "all")])
    (found,) = json.loads(agreement.stdout)["rubrics"]

    assert found["labels"] == 0
    assert found["notes"] == ["4 label(s) were given under other content of the rubric"]
    assert validation.code == 1
    assert "4 given under other content of the rubric" in validation.stdout
