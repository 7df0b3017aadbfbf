# pyright: basic
"""What `run`, `show` and `report` claim: conversations, repeats, slices and small samples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fakes.desk_project import case, jsonl
from fakes.many_commands import Done, run_many

pytestmark = pytest.mark.trials

JSON = ("--format", "json")
RUN = ("run", "cases.jsonl", "--responses", "responses.jsonl")
RUBRIC = """\
id: yes
version: 1.0.0
checks: [{id: says, kind: must_contain_any, phrases: ["yes"]}]
scoring: {combine: all_pass}
"""
ZERO_WIDTH = re.compile(r"\[(-?\+?[0-9.]+), \1\]")
Tries = Iterable[bool | None]


def write(folder: Path, tries: dict[str, Tries], **fields: Any) -> Path:
    """Cases whose tries pass, fail or, with None, have no answer for good."""
    cases = [
        {**case(name, f"Question {name}?", "yes"), "tags": [], **_of(fields, place)}
        for place, name in enumerate(tries)
    ]
    jsonl(folder / "cases.jsonl", cases)
    rows = [
        {"record_id": name, "candidate_name": "model", "repeat": repeat, **_answer(passed)}
        for name, outcomes in tries.items()
        for repeat, passed in enumerate(outcomes)
    ]
    jsonl(folder / "responses.jsonl", rows)
    (folder / "steelyard.yaml").write_text("retry: {max_attempts: 1}\n", encoding="utf-8")
    return folder


def _of(fields: dict[str, Any], place: int) -> dict[str, Any]:
    return {name: value(place) for name, value in fields.items()}


def _answer(passed: bool | None) -> dict[str, Any]:
    if passed is None:
        return {"error_code": "timeout"}
    return {"response_text": "yes" if passed else "no"}


def metrics(done: Done) -> dict[str, Any]:
    return json.loads(done.stdout)["metrics"]


def conversations(folder: Path) -> Path:
    """20 conversations of 5 turns; the turns of 16 all pass, those of 4 all fail."""
    tries: dict[str, Tries] = {f"t{turn}": [turn < 80] for turn in range(100)}
    return write(folder, tries, conversation_id=lambda turn: f"talk {turn // 5}")


def test_the_headline_counts_conversations_and_not_turns(tmp_path: Path) -> None:
    text, as_json, markdown = run_many(
        conversations(tmp_path), [RUN, (*RUN, *JSON), (*RUN, "--format", "markdown")]
    )
    rate = metrics(as_json)["pass_rate"]

    assert "pass rate  80.0 % [56.2, 92.6]  80 of 100 evaluated (95 % interval)" in text.stdout
    groups = "20 groups (a conversation, or a record without one)"
    said = f"100 records in {groups} count as about 19 independent records"
    assert said in text.stdout
    assert said in markdown.stdout
    assert "score      0.800 [0.562, 0.926]" in text.stdout
    assert "check      says  80.0 % [56.2, 92.6]  n = 100" in text.stdout
    assert (rate["n"], rate["clusters"], round(rate["n_effective"])) == (100, 20, 19)


@pytest.mark.parametrize(("least", "code"), [("0.7", 1), ("0.5", 0)])
def test_a_gate_on_the_lower_end_sees_conversations(tmp_path: Path, least: str, code: int) -> None:
    (done,) = run_many(conversations(tmp_path), [(*RUN, "--fail-under-low", least)])

    assert done.code == code, done.stderr


def test_a_slice_of_conversations_counts_them_too(tmp_path: Path) -> None:
    folder = conversations(tmp_path)
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    jsonl(folder / "cases.jsonl", [{**one, "tags": ["all"]} for one in cases])
    run, shown = run_many(folder, [(*RUN, *JSON), ("report", "latest", "-o", "r.html")])
    file = Path(json.loads(run.stdout)["artifacts"]) / "metrics_by_slice.json"
    found = json.loads(file.read_text(encoding="utf-8"))["slices"][0]

    assert shown.code == 0
    assert found["pass_rate"] == metrics(run)["pass_rate"]
    assert "count as about 19 independent records" in (folder / "r.html").read_text("utf-8")


def test_cases_that_lack_tries_are_bounded(tmp_path: Path) -> None:
    """Two cases pass 3 of 3; two fail once, and their other tries have no score."""
    tries: dict[str, Tries] = {
        **{f"good{at}": [True] * 3 for at in range(2)},
        **{f"bad{at}": [False, None, None] for at in range(2)},
    }
    text, as_json = run_many(
        write(tmp_path, tries), [(*RUN, "--repeat", "3"), (*RUN, "--repeat", "3", *JSON)]
    )
    found = metrics(as_json)["repeats"]
    filled = "if the tries without a score had all failed or all passed"

    assert "pass rate  50.0 %" in text.stdout
    assert "pass^3     50.0 % [15.0, 85.0]  every one of 3 tries passes, n = 4" in text.stdout
    assert (found["pass_hat_k"]["value"], found["pass_hat_k"]["n"]) == (0.5, 4)
    assert "pass@3     100.0 % [34.2, 100.0]  one of 3 tries passes, n = 2" in text.stdout
    assert f"bounds     pass^3 is 50.0 % to 50.0 % {filled}" in text.stdout
    assert f"bounds     pass@3 is 50.0 % to 100.0 % {filled}" in text.stdout
    assert found["pass_hat_k"]["bounds"] == {"low": 0.5, "high": 0.5}
    assert [row["k"] for row in found["by_k"]] == [1, 2, 3]
    assert found["by_k"][0]["pass_at_k"]["value"] == 0.5
    assert "pass@1 50.0 % [15.0, 85.0] n = 4, bounds 50.0 % to 83.3 %; pass@2" in text.stdout


def test_a_pass_a_fail_and_a_timeout_are_bounded_for_every_k(tmp_path: Path) -> None:
    tries: dict[str, Tries] = {f"c{at}": [True, False, None] for at in range(4)}
    run, _ = run_many(
        write(tmp_path, tries),
        [(*RUN, "--repeat", "3", *JSON), ("report", "latest", "-o", "r.html")],
    )
    by_k = metrics(run)["repeats"]["by_k"]
    page = (tmp_path / "r.html").read_text("utf-8")

    assert [row["pass_at_k"]["bounds"]["low"] for row in by_k] == pytest.approx([1 / 3, 2 / 3, 1])
    assert [row["pass_hat_k"]["bounds"]["high"] for row in by_k] == pytest.approx(
        [2 / 3, 1 / 3, 0]
    )
    assert by_k[2]["pass_at_k"]["value"] == 1.0
    assert by_k[2]["pass_hat_k"]["value"] == 0.0
    assert "66.7 % to 100.0 % if the tries without a score" in page
    assert "Were all 4 tries without a score a fail or a pass" in page


def test_parts_of_records_are_explained(tmp_path: Path) -> None:
    tries: dict[str, Tries] = {"a": [True, False], "b": [True, True], "c": [False, False]}
    report = ("report", "latest", "-o", "r.html")
    done, _ = run_many(write(tmp_path, tries), [(*RUN, "--repeat", "2"), report])
    page = (tmp_path / "r.html").read_text("utf-8")

    assert "A record counts by the share of its tries that passed." in page
    assert "1.50 of 3 evaluated (95 % interval)\n             a record counts by the share" in (
        done.stdout
    )
    assert "smaller k  pass@1 50.0 % [" in done.stdout
    assert "] n = 3\n" in done.stdout.split("smaller k")[1]


def test_repeats_say_where_the_noise_is(tmp_path: Path) -> None:
    coins: dict[str, Tries] = {f"c{at}": [True, False] for at in range(12)}
    sure: dict[str, Tries] = {f"c{at}": [at < 8] * 2 for at in range(12)}
    folders = [write(_made(tmp_path / name), one) for name, one in (("a", coins), ("b", sure))]
    outcomes = [run_many(folder, [(*RUN, "--repeat", "2")])[0] for folder in folders]

    assert "0 % of the variance is between records, 100 % between repeats: more repeats help" in (
        outcomes[0].stdout
    )
    assert "100 % of the variance is between records, 0 % between repeats: add records" in (
        outcomes[1].stdout
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "tries",
    [
        {"only": [True]},
        {"only": [True, True]},
        {f"c{at}": [True] for at in range(3)},
        {f"c{at}": [False] * 2 for at in range(3)},
    ],
    ids=["one record", "one record twice", "all pass", "all fail twice"],
)
def test_no_interval_has_width_zero(tmp_path: Path, tries: dict[str, Tries]) -> None:
    folder = write(tmp_path, tries, tags=lambda _: ["all"])
    repeats = str(max(len([*outcomes]) for outcomes in tries.values()))
    run = (*RUN, "--repeat", repeats)
    text, markdown, as_json, _ = run_many(
        folder,
        [run, (*run, "--format", "markdown"), (*run, *JSON), ("report", "latest", "-o", "r.html")],
    )
    page = (folder / "r.html").read_text(encoding="utf-8")

    for shown in (text.stdout, markdown.stdout, page):
        assert "[" in shown
        assert not ZERO_WIDTH.search(shown), shown
    widths = [
        row["high"] - row["low"] for row in _intervals(metrics(as_json)) if row["low"] is not None
    ]
    assert widths
    assert min(widths) > 0


def _intervals(value: Any) -> Iterable[dict[str, Any]]:
    if isinstance(value, dict):
        if "method" in value and value.get("value") is not None:
            yield value
        for inner in value.values():
            yield from _intervals(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _intervals(inner)


def test_a_slice_is_weak_only_where_chance_does_not_explain_it(tmp_path: Path) -> None:
    """60 records: 16 of 20 fees fail; of 40 others one in eight fails, in one topic or another."""
    tries: dict[str, Tries] = {f"c{at}": [at > 15 and at % 8 > 0] for at in range(60)}
    folder = write(tmp_path, tries, tags=lambda at: ["fees" if at < 20 else f"topic{at % 3}"])
    (done,) = run_many(folder, [RUN])
    weak = [line for line in done.stdout.splitlines() if "weak slice" in line]

    assert len(weak) == 1
    assert "tags = fees" in weak[0]
    assert "below the rest (adjusted p < 0.001)" in weak[0]


def test_slices_within_chance_are_not_called_weak(tmp_path: Path) -> None:
    tries: dict[str, Tries] = {f"c{at}": [at % 4 > 0] for at in range(40)}
    folder = write(tmp_path, tries, tags=lambda at: [f"topic{at % 5}"])
    (done,) = run_many(folder, [RUN])

    assert "weak" not in done.stdout


def test_one_bad_conversation_makes_no_weak_slice(tmp_path: Path) -> None:
    """All ten turns of one conversation fail: one piece of evidence."""
    tries: dict[str, Tries] = {f"c{at}": [at >= 10] for at in range(100)}
    folder = write(
        tmp_path,
        tries,
        tags=lambda at: ["fees" if at < 20 else "loans"],
        conversation_id=lambda at: f"talk {at // 10}",
    )
    (done,) = run_many(folder, [RUN])

    assert "weak slice" not in done.stdout
    assert "lowest     tags = fees" in done.stdout
    assert "could be chance" in done.stdout


def test_a_few_bad_conversations_make_no_weak_slice(tmp_path: Path) -> None:
    """4 of 10 conversations fail against none of 10: Fisher's exact test says 0.087."""
    tries: dict[str, Tries] = {f"c{at}": [at >= 12] for at in range(60)}
    folder = write(
        tmp_path,
        tries,
        tags=lambda at: ["fees" if at < 30 else "loans"],
        conversation_id=lambda at: f"talk {at // 3}",
    )
    text, as_json = run_many(folder, [RUN, (*RUN, *JSON)])
    file = Path(json.loads(as_json.stdout)["artifacts"]) / "metrics_by_slice.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["slices"]

    assert "weak slice" not in text.stdout
    assert rows[0]["p_value"] == pytest.approx(0.0867, abs=0.0001)


def documents(folder: Path) -> Path:
    """100 questions about 20 documents, one a conversation; 16 documents pass throughout."""
    tries: dict[str, Tries] = {f"q{at}": [at % 20 < 16] for at in range(100)}
    return write(
        folder,
        tries,
        metadata=lambda at: {"document": at % 20, **({"few": at % 2} if at < 10 else {})},
        conversation_id=lambda at: f"talk {at}",
    )


def test_a_project_names_what_its_records_depend_on(tmp_path: Path) -> None:
    folder = documents(tmp_path)
    with (folder / "steelyard.yaml").open("a", encoding="utf-8") as stream:
        stream.write("cluster: metadata.document\n")
    said = "100 records in 20 groups of one metadata.document count as about 19 independent"
    text, as_json = run_many(folder, [RUN, (*RUN, *JSON)])
    run = json.loads(as_json.stdout)
    rows = (Path(run["artifacts"]) / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    # The run keeps what it was started with.
    (folder / "yes.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "steelyard.yaml").write_text("cluster: task_type\n", encoding="utf-8")
    again, other = run_many(
        folder,
        [
            ("regrade", run["run_id"], "--rubric", "yes.yaml"),
            (*RUN, "--cluster", "conversation_id", *JSON),
        ],
    )

    assert "pass rate  80.0 % [56.2, 92.6]" in text.stdout
    assert said in text.stdout
    assert said in again.stdout
    assert len({json.loads(row)["cluster"] for row in rows}) == 20
    assert run["metrics"]["pass_rate"]["clusters"] == 20
    assert metrics(other)["pass_rate"]["clusters"] is None


@pytest.mark.parametrize(
    ("setting", "option", "code", "said"),
    [
        ("document", (), 2, "steelyard.yaml:1: cluster names conversation_id, dataset, task_type"),
        ("[a]", (), 2, "steelyard.yaml:1: cluster names conversation_id, dataset, task_type"),
        (None, ("--cluster", "document"), 2, "'document' is none of them"),
        ("metadata.nope", (), 2, "cases.jsonl: cluster: no record has 'metadata.nope'"),
        (None, ("--cluster", "metadata.nope"), 2, "cluster: no record has 'metadata.nope'"),
        (None, ("--cluster", "metadata.few"), 0, "90 of 100 record(s) have no 'metadata.few'"),
        (None, ("--cluster", "metadata.few", "--strict"), 2, "strict: cases.jsonl: 90 of 100"),
    ],
)
def test_a_cluster_that_cannot_be_is_told(
    tmp_path: Path, setting: str | None, option: tuple[str, ...], code: int, said: str
) -> None:
    folder = documents(tmp_path)
    text = f"cluster: {setting}\n" if setting else ""
    (folder / "steelyard.yaml").write_text(text, encoding="utf-8")
    (done,) = run_many(folder, [(*RUN, *option)])

    assert done.code == code
    assert said in done.stderr


def test_a_plan_says_how_many_records_a_difference_needs(tmp_path: Path) -> None:
    plan = (*RUN, "--plan", "--detect", "5")
    folder = documents(tmp_path)
    before, _, one, _, two, as_json = run_many(
        folder,
        [
            plan,
            (*RUN, "--cluster", "metadata.document"),
            plan,
            ("run", "cases.jsonl", "--target", "echo"),
            plan,
            (*plan, *JSON),
        ],
    )
    found = json.loads(as_json.stdout)["detect"]

    assert "a difference of 5 points needs about 980 records (80 % power)" in before.stdout
    assert "this dataset has 100: enough to show a difference of 16.2 points" in before.stdout
    assert "assumed, because there are no two runs to compare: 30.0 %" in before.stdout
    assert "in 1,031 conversations or other groups" in one.stdout
    assert "design effect of dependent records 5.26" in one.stdout
    assert "; the newest run passes 80.0 %" in one.stdout
    assert "assumed: 75.5 % of records pass in one run only (80.0 % of 100 seen)" in two.stdout
    assert found["discordant"] == pytest.approx(83 / 110)
    assert (found["observed_discordant"], found["pairs"]) == (0.8, 100)
    assert (found["pass_rate"], len(found["runs"])) == (0.0, 2)
    assert found["valid_records"] == 100


def test_enough_records_are_said_to_be_enough_and_a_few_to_show_nothing(tmp_path: Path) -> None:
    folder = documents(tmp_path)
    enough, repeated, few, alone = run_many(
        folder,
        [
            (*RUN, "--plan", "--detect", "20"),
            (
                "run",
                "cases.jsonl",
                "--target",
                "echo",
                "--plan",
                "--detect",
                "20",
                "--repeat",
                "3",
            ),
            (*RUN, "--plan", "--detect", "5", "--limit", "4"),
            (*RUN, "--detect", "5"),
        ],
    )

    assert "needs about 67 records (80 % power)" in enough.stdout
    assert "this dataset has 100: enough\n" in enough.stdout
    assert "67 records, each asked 3 times (80 % power)" in repeated.stdout
    assert "this dataset has 4: too few to show any difference" in few.stdout
    assert (alone.code, alone.stdout) == (2, "")
    assert "--detect belongs to --plan" in alone.stderr


def test_runs_that_show_no_difference_are_not_planned_by(tmp_path: Path) -> None:
    """Two equal runs, one of four records, and one whose predictions are gone."""
    folder = documents(tmp_path)
    plan = (*RUN, "--plan", "--detect", "5")
    gone = run_many(folder, [RUN, RUN, (*RUN, "--limit", "4"), (*RUN, *JSON)])[-1]
    predictions = Path(json.loads(gone.stdout)["artifacts"]) / "predictions.jsonl"
    predictions.chmod(0o600)
    predictions.unlink()
    (done,) = run_many(folder, [plan])

    assert "assumed, because there are no two runs to compare: 30.0 %" in done.stdout


DUPLICATES: dict[str, Any] = {
    "cases.jsonl": [{**case(name, "Why?", "so"), "conversation_id": name} for name in "ab"],
    "document.json": {
        "dataset_id": "d",
        "dataset_version": "1",
        "schema_version": "1.0",
        "records": [{"record_id": name, "input": {"prompt": "Why?"}} for name in ("a", "b")],
    },
    "rows.jsonl": [
        {
            "schema_version": "legal_eval_v1",
            "id": name,
            "dataset": "quiz",
            "task_type": "mcq",
            "prompt": "Why?",
            "choices": [{"id": "A", "text": "so"}, {"id": "B", "text": "no"}],
            "correct_choice_ids": ["A"],
        }
        for name in "ab"
    ],
    "evals.json": {
        "skill_name": "s",
        "evals": [{"id": n, "prompt": "Why?", "expected_output": "so"} for n in (1, 2)],
    },
    "questions.json": {
        "name": "Q",
        "questions": [
            {"id": name, "input": "Why?", "expected_facts": ["so"]} for name in ("a", "b")
        ],
    },
}
"""The same question under two ids, in each contract of datasets."""


@pytest.mark.parametrize("name", DUPLICATES)
@pytest.mark.parametrize("strict", [(), ("--strict",)], ids=["lenient", "strict"])
def test_validate_warns_of_the_same_content_under_another_id(
    tmp_path: Path, name: str, strict: tuple[str, ...]
) -> None:
    content = DUPLICATES[name]
    if name.endswith(".jsonl"):
        jsonl(tmp_path / name, content)
    else:
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    (done,) = run_many(tmp_path, [("validate", name, *strict, *JSON)])
    (file,) = json.loads(done.stdout)["files"]
    warned = [one for one in file["findings"] if one["code"] == "duplicate_content"]

    assert done.code == 0, done.stdout
    assert [(one["severity"], one["index"]) for one in warned] == [("warning", 1)]
    assert "the same content as the record of " in warned[0]["message"]


def test_a_run_says_how_many_records_repeat_the_content_of_others(tmp_path: Path) -> None:
    """40 records hold 5 questions, under ids of their own."""
    tries: dict[str, Tries] = {f"x{at}": [at % 5 > 0] for at in range(40)}
    folder = write(tmp_path, tries)
    rows = [
        {**case(f"x{at}", f"Question {at % 5}?", "yes"), "conversation_id": f"t{at}"}
        for at in range(40)
    ]
    jsonl(folder / "cases.jsonl", rows)
    repeated, plan, alone = run_many(
        folder, [RUN, (*RUN, "--plan"), (*RUN, "--limit", "5", "--format", "json")]
    )
    said = "cases.jsonl: 35 of 40 record(s) have the content of another under a new id"

    assert (repeated.code, alone.code) == (0, 0)
    assert said in repeated.stderr
    assert said in plan.stderr
    assert "under a new id" not in alone.stderr
