"""`steelyard rubric`, `judge` and `dataset` as a user gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.desk_project import QUESTIONS, SETTINGS, case, write_desk
from fakes.many_commands import Done, run_many

JSON = ("--format", "json")
POLITE = "rubrics/polite.yaml"
RUBRIC = """\
id: polite
version: "{version}"
checks:
  - {{id: says_please, kind: must_contain_any, phrases: [{phrases}]}}
scoring: {{combine: all_pass}}
"""
JUDGE = """\
id: tone
version: "{version}"
score_type: binary
template: "{asks}\\n{{{{ output }}}}"
"""
JUDGED = """\
id: toned
version: 1.0.0
checks: [{id: kind, kind: llm_judge, judge_prompt_ref: judge/tone@1.0.0}]
scoring: {combine: all_pass}
"""
ASKED = """

def judge(prompt):
    verdict = 0 if "Is it very kind?" in prompt and "weeks" not in prompt else 1
    return '{"evidence": "", "reasoning": "said so", "value": %d}' % verdict
"""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A help desk whose answers say please."""
    return write_desk(tmp_path)


def told(done: Done) -> Any:
    return json.loads(done.stdout)


def polite(desk: Path, version: str, phrases: str = "please") -> None:
    text = RUBRIC.format(version=version, phrases=phrases)
    (desk / POLITE).write_text(text, encoding="utf-8")


def test_a_rubric_is_published_listed_shown_and_said_to_be_there(desk: Path) -> None:
    before, first, again, listed, shown, as_json = run_many(
        desk,
        [
            ("rubric", "list", *JSON),
            ("rubric", "publish", "rubric/polite@1.0"),
            ("rubric", "publish", POLITE),
            ("rubric", "list"),
            ("rubric", "show", "polite@1.0"),
            ("rubric", "show", "rubric/polite@1.0", *JSON),
        ],
    )
    (version,) = told(before)["data"][0]["versions"]

    assert {done.code for done in (before, first, again, listed, shown, as_json)} == {0}
    assert (version["status"], version["published_at"]) == ("not published", None)
    assert first.stdout.startswith("rubric/polite@1.0.0  published  sha256 ")
    assert "the same content; nothing to do" in again.stdout
    assert listed.stdout.startswith("polite@1.0.0  published ")
    assert shown.stdout.startswith("# rubric/polite@1.0.0: published at ")
    assert told(as_json)["sha256"] == version["sha256"]
    assert told(as_json)["used_by"] == ["suite nightly"]


def test_what_show_prints_is_the_file_again(desk: Path) -> None:
    _, shown = run_many(desk, [("rubric", "publish", POLITE), ("rubric", "show", "polite@1.0")])
    polite(desk, "1.0.0", "bitte")
    (changed,) = run_many(desk, [("validate", POLITE)])
    (desk / POLITE).write_text(shown.stdout, encoding="utf-8")
    (put_back,) = run_many(desk, [("validate", POLITE)])

    assert (changed.code, put_back.code) == (1, 0)


def test_a_file_that_is_not_what_was_published_is_used_by_nothing(desk: Path) -> None:
    run = ("run", "datasets/desk.jsonl", "--target", "agent")
    run_many(desk, [("rubric", "publish", POLITE)])
    polite(desk, "1.0.0", "bitte")
    publish, valid, named, by_path, listed = run_many(
        desk,
        [
            ("rubric", "publish", POLITE),
            ("validate", POLITE, *JSON),
            (*run, "--rubric", "rubric/polite@1.0"),
            (*run, "--rubric", POLITE),
            ("rubric", "list", *JSON),
        ],
    )
    (desk / POLITE).unlink()
    (outlived,) = run_many(desk, [(*run, "--rubric", "rubric/polite@1.0", *JSON)])

    assert (publish.code, publish.stdout) == (1, "")
    assert "give it a new version" in publish.stderr
    assert valid.code == 1
    assert told(valid)["files"][0]["findings"][0]["code"] == "version_conflict"
    assert (named.code, by_path.code) == (2, 2)
    assert "is not what was published as rubric/polite@1.0.0; neither is used" in named.stderr
    assert told(listed)["data"][0]["versions"][0]["status"] == "changed"
    assert told(outlived)["metrics"]["evaluated_records"] == 4


def test_a_minor_version_that_moves_scores_is_refused_and_a_major_one_is_not(desk: Path) -> None:
    run_many(
        desk,
        [
            ("rubric", "publish", POLITE),
            ("run", "datasets/desk.jsonl", "--target", "agent", "--rubric", "rubric/polite@1.0"),
        ],
    )
    (run,) = run_many(desk, [("runs", *JSON)])
    run_id = told(run)["data"][0]["run_id"]
    polite(desk, "1.1.0", "bitte")
    diff, refused = run_many(
        desk,
        [
            ("rubric", "diff", "rubric/polite@1.0", POLITE),
            ("rubric", "publish", POLITE, "--against", run_id),
        ],
    )
    polite(desk, "2.0.0", "bitte")
    major, missing = run_many(
        desk,
        [
            ("rubric", "publish", POLITE, "--against", run_id, *JSON),
            ("rubric", "show", "rubric/polite@1.1"),
        ],
    )
    shift = told(major)["shift"]

    assert diff.stdout.splitlines()[-1] == "breaking: 1 of 2 can move scores"
    assert (refused.code, refused.stdout) == (1, "")
    assert "a change that moves scores needs a new major version" in refused.stderr
    assert "4 of 4 traces moved; 4 have a score in both" in refused.stderr
    assert "passes  1 gained, 3 lost (exact McNemar test, p = 0.625)" in refused.stderr
    assert "hours  1.000 pass → 0.000 fail" in refused.stderr
    assert (major.code, told(major)["outcome"]) == (0, "published")
    assert (shift["run_id"], shift["moved_count"], len(shift["moved"])) == (run_id, 4, 4)
    assert shift["has_moved"] is True
    assert missing.code == 2


def test_a_patch_that_moves_nothing_is_published(desk: Path) -> None:
    run_many(desk, [("rubric", "publish", POLITE), ("run", "--suite", "nightly")])
    polite(desk, "1.0.1", "please, thanks")
    untested, published = run_many(
        desk,
        [
            ("rubric", "publish", POLITE, "--against", "nowhere"),
            ("rubric", "publish", POLITE, "--against", "latest"),
        ],
    )

    assert untested.code == 2
    assert published.code == 0
    assert "scores did not move" in published.stdout
    assert "not tested" not in published.stdout


def judged(desk: Path) -> None:
    """Let the desk have a judge."""
    agent = desk / "desk_agent.py"
    agent.write_text(agent.read_text(encoding="utf-8") + ASKED, encoding="utf-8")
    said = '  asked: {provider: python, callable: "desk_agent:judge"}\n'
    settings = SETTINGS.replace(
        "suites:\n", f"{said}judges: {{default: {{target: asked}}}}\nsuites:\n"
    )
    (desk / "steelyard.yaml").write_text(settings, encoding="utf-8")


@pytest.mark.trials
def test_a_judge_is_tested_where_a_run_asked_it(desk: Path) -> None:
    judged(desk)
    again = [case(f"{name}-again", *texts) for name, texts in QUESTIONS.items()]
    with (desk / "datasets" / "desk.jsonl").open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in again)
    (desk / "judges").mkdir()
    judge = desk / "judges" / "tone.yaml"
    judge.write_text(JUDGE.format(version="1.0.0", asks="Is it kind?"), encoding="utf-8")
    (desk / "rubrics" / "toned.yaml").write_text(JUDGED, encoding="utf-8")
    early, _, _, published, run = run_many(
        desk,
        [
            ("rubric", "publish", "rubrics/toned.yaml"),
            ("judge", "publish", "judges/tone.yaml"),
            ("judge", "diff", "tone", "accuracy"),
            ("rubric", "publish", "rubrics/toned.yaml"),
            ("run", "datasets/desk.jsonl", "--target", "agent", "--rubric", "toned@1.0", *JSON),
        ],
    )
    judge.write_text(JUDGE.format(version="1.1.0", asks="Is it very kind?"), encoding="utf-8")
    against = ("--against", told(run)["run_id"], *JSON)
    moved, shown = run_many(
        desk,
        [("judge", "publish", "judges/tone.yaml", *against), ("judge", "show", "tone@1.0", *JSON)],
    )
    shift = told(moved)["shift"]

    assert (early.code, published.code, run.code) == (1, 0, 0)
    assert "judge/tone@1.0.0, which is not published" in early.stderr
    assert moved.code == 1, moved.stderr
    assert (shift["is_judged"], shift["pairs"], shift["moved_count"]) == (True, 8, 6)
    assert shift["passes"]["p_value"] == pytest.approx(1 / 32)
    assert shift["old"]["reference"] == "judge/tone@1.0.0"
    assert told(shown)["used_by"] == ["rubric/toned@1.0.0"]


def test_a_question_rubric_is_compared_with_the_one_that_a_run_used(desk: Path) -> None:
    judged(desk)
    for version, label in (("good-v1", "Is it kind?"), ("good-v2", "Is it very kind?")):
        asked = {"key": "good", "label": label, "type": "yes_no"}
        rubric = {"name": "Good", "version": version, "status": "draft", "questions": [asked]}
        path = desk / "rubrics" / f"{version}.json"
        path.write_text(json.dumps(rubric), encoding="utf-8")
    run, published, other = run_many(
        desk,
        [
            ("run", "datasets/desk.jsonl", "--target", "agent", "--rubric", "good-v1", *JSON),
            ("rubric", "publish", "good-v2", "--against", "latest", *JSON),
            ("rubric", "diff", "good-v1", "good-v2"),
        ],
    )

    assert (run.code, published.code) == (0, 0), published.stderr
    assert told(published)["shift"]["old"]["reference"] == "rubric/good-v1"
    assert told(published)["warnings"] == [
        "the file still says draft; its content is fixed now: write status: published"
    ]
    assert "~ questions.good.label" in other.stdout


@pytest.mark.trials
def test_a_dataset_is_published_and_run_without_its_file(desk: Path) -> None:
    unversioned, published, again = run_many(
        desk,
        [
            ("dataset", "publish", "datasets/desk.jsonl"),
            ("dataset", "publish", "datasets/desk.jsonl", "--version", "1", *JSON),
            ("dataset", "publish", "dataset/desk@1"),
        ],
    )
    path = desk / "datasets" / "desk.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (desk / "datasets" / "new.jsonl").write_text("".join(rows[1:]), encoding="utf-8")
    path.unlink()
    run, regraded, workers, listed, shown, diff = run_many(
        desk,
        [
            ("run", "dataset/desk@1", "--target", "agent", *JSON),
            ("regrade", "latest", "--rubric", "rubric/polite@1.0", *JSON),
            ("run", "dataset/desk@1", "--target", "agent", "--workers", "2", *JSON),
            ("dataset", "list", *JSON),
            ("dataset", "show", "dataset/desk@1"),
            ("dataset", "diff", "dataset/desk@1", "datasets/new.jsonl", *JSON),
        ],
    )

    assert (unversioned.code, published.code, again.code) == (2, 0, 0)
    assert told(published)["reference"] == "dataset/desk@1"
    assert {told(done)["metrics"]["evaluated_records"] for done in (run, regraded, workers)} == {4}
    assert told(listed)["data"][0]["id"] == "desk"
    assert "records: 4" in shown.stdout
    assert told(diff)["is_breaking"] is True
    assert told(diff)["differences"][-1]["path"] == "records.hours"


def test_a_suite_may_name_a_published_dataset(desk: Path) -> None:
    settings = SETTINGS.replace("datasets/desk.jsonl", "dataset/desk@1")
    (desk / "steelyard.yaml").write_text(settings, encoding="utf-8")
    _, run, shown = run_many(
        desk,
        [
            ("dataset", "publish", "datasets/desk.jsonl", "--version", "1"),
            ("run", "--suite", "nightly", *JSON),
            ("dataset", "show", "dataset/desk@1", *JSON),
        ],
    )

    assert told(run)["metrics"]["total_records"] == 4
    assert told(shown)["used_by"] == ["suite release", "suite nightly"]


@pytest.mark.parametrize("kind", ["rubric", "judge", "dataset"])
def test_what_names_nothing_is_wrong_usage(desk: Path, kind: str) -> None:
    name = f"{kind}/none@1.0"
    done = run_many(
        desk,
        [
            (kind, "publish", name),
            (kind, "publish", "none.yaml"),
            (kind, "show", name),
            (kind, "diff", name, name),
            (kind, "list"),
        ],
    )

    assert [one.code for one in done] == [2, 2, 2, 2, 0]
    assert all(one.stderr.count("\n") == 1 for one in done[:4])
    assert "Traceback" not in "".join(one.stderr for one in done)


def test_a_minor_version_that_can_move_scores_needs_a_trial(desk: Path) -> None:
    publish = ("rubric", "publish", POLITE)
    (first,) = run_many(desk, [publish])
    polite(desk, "1.1.0", "please, thanks")
    graded = ("--target", "agent", "--rubric", "rubric/polite@1.0.0")
    refused, run, tried = run_many(
        desk,
        [publish, ("run", "datasets/desk.jsonl", *graded), (*publish, "--against", "latest")],
    )

    assert (first.code, refused.code, run.code, tried.code) == (0, 1, 0, 0)
    assert "show --against a run that none moves" in refused.stderr


STYLE = """\
name: Style
version: style-v1
status: {status}
questions: [{{key: kind, label: Is it kind?, type: yes_no}}]
"""


def test_an_archived_rubric_does_not_come_back_when_it_is_published_again(desk: Path) -> None:
    path = desk / "rubrics" / "style-v1.yaml"
    codes: list[int] = []
    for status in ("published", "archived", "published"):
        path.write_text(STYLE.format(status=status), encoding="utf-8")
        codes += [done.code for done in run_many(desk, [("rubric", "publish", str(path))])]
    run = ("run", "datasets/desk.jsonl", "--target", "agent", "--rubric")
    shown, *runs = run_many(
        desk,
        [
            ("rubric", "show", "rubric/style-v1"),
            (*run, "rubric/style-v1"),
            (*run, "rubrics/style-v1.yaml"),
        ],
    )

    assert codes == [0, 0, 1]
    assert shown.stdout.startswith("# rubric/style-v1: archived at ")
    assert [(done.code, "is archived" in done.stderr) for done in runs] == [(2, True)] * 2
