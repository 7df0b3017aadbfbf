"""`steelyard run` as a user and a CI job start it: what it prints, keeps and exits with."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

import pytest

from fakes.desk_project import write_desk
from fakes.many_commands import Done, run_many

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
Words: TypeAlias = tuple[str, ...]

DESK = "datasets/desk.jsonl"
AGENT = ("run", DESK, "--target", "agent")
MOODY = ("run", DESK, "--target", "moody")
JSON = ("--format", "json")
WHO_GRADES = "graded by their own expectations: 4 records (must_contain_any 4)\n"
ARTIFACTS = {
    "attempt_logs.jsonl",
    "failures.jsonl",
    "input_dataset.json",
    "metrics_by_slice.json",
    "metrics_summary.json",
    "predictions.jsonl",
    "record_validation.jsonl",
    "run_manifest.json",
}
TELLS = re.compile(r"steelyard: run_\w{26}: (.*)")
LOW = "the lower bound of the pass rate"
PASSED = "gate passed: fail-under looked at the pass rate, 75.0 %, n = 4"
MISSING = "1 of 4 record(s) have no score, more than --allow-failures 0"
GATES: dict[Words, tuple[int, list[str]]] = {
    (*AGENT, "--fail-under", "0.75"): (0, [PASSED]),
    (*AGENT, "--fail-under", "0.76"): (
        1,
        ["gate failed: the pass rate is 0.75, below fail-under 0.76; n = 4"],
    ),
    (*AGENT, "--fail-under-low", "0.30"): (
        0,
        [f"gate passed: fail-under-low looked at {LOW}, 30.1 %, n = 4"],
    ),
    (*AGENT, "--fail-under-low", "0.31"): (
        1,
        [f"gate failed: {LOW} is 0.300642, below fail-under-low 0.31; n = 4"],
    ),
    (*MOODY,): (4, [MISSING]),
    (*MOODY, "--allow-failures", "1"): (0, []),
    (*MOODY, "--allow-failures", "24%"): (4, [f"{MISSING.removesuffix('0')}24%"]),
    (*MOODY, "--allow-failures", "25%"): (0, []),
    (*MOODY, "--fail-under", "0.9"): (
        1,
        ["gate failed: the pass rate is 0.666667, below fail-under 0.9; n = 3", MISSING],
    ),
    (*AGENT, "--target", "moody"): (4, [MISSING]),
    (*AGENT, "--target", "moody", "--fail-under", "0.7"): (
        1,
        [PASSED, "gate failed: the pass rate is 0.666667, below fail-under 0.7; n = 3", MISSING],
    ),
    ("run", "--suite", "release"): (
        1,
        ["gate failed: the pass rate is 0.75, below fail-under 0.9; n = 4"],
    ),
    ("run", "--suite", "release", "--fail-under", "0.5"): (0, [PASSED]),
    ("run", "datasets/flawed.jsonl", "--target", "agent"): (4, [MISSING]),
}
REFUSED: dict[Words, str] = {
    (*AGENT, "--fail-under", "80%"): "'80%' is no share from 0 to 1; write 0.8 for 80 %",
    (*AGENT, "--fail-under-low", "nan"): "'nan' is no share from 0 to 1",
    (*AGENT, "--fail-under", "80"): "'80' is no share from 0 to 1",
    (*AGENT, "--allow-failures", "101%"): "a share such as 5%, not '101%'",
    (*AGENT, "--allow-failures", "nan"): "a number of records, or a share",
    (*AGENT, "--corrected"): "--corrected says what --fail-under and --fail-under-low look at",
    ("run",): "name a dataset, or a suite that has one",
    ("run", "datasets/no.jsonl", "--target", "echo"): "no such file: datasets/no.jsonl",
    ("run", "datasets", "--target", "echo"): "datasets is a folder; name a file in it",
    (
        "run",
        DESK,
    ): "no target given; pass --target NAME or define 'default'; targets of "
    "this project: agent, moody, slow, dear",
    ("run", DESK, "--target", "agnet"): "unknown target 'agnet' (did you mean 'agent'?)",
    ("run", "--suite", "relaese"): "unknown suite 'relaese' (did you mean 'release'?)",
    (*AGENT, "--rubric", "rubric/no"): "cannot resolve rubric/no",
    (*AGENT, "--where", "id = nobody"): "no record is selected",
    (*AGENT, "--where", "id"): "cannot read 'id'",
    (*AGENT, "--where", ""): "--where is empty; leave it out, or give a value: Run only records",
    ("run", "datasets/hopeless.jsonl", "--target", "echo"): "none of 1 record(s) is valid",
    ("run", DESK, "--responses", "responses/gaps.jsonl"): "2 selected pair(s) have no recorded",
    ("run", DESK, "--responses", "responses/no.jsonl"): "cannot read the responses responses/no",
    ("run", DESK, "--responses", "responses/both.jsonl", "--target", "eve"): "it has: ann, bob",
    ("run", DESK, "--responses", "r", "--from-run", "latest"): "exclude each other",
    ("run", DESK, "--from-run", "run_NO"): "no run 'run_NO' in this project",
    (*AGENT, "--allow-failures", "many"): "a share such as 5%",
    (*AGENT, "--fail-under", "7"): "Invalid value for '--fail-under'",
    (*AGENT, "--fail-under", "nan"): "'nan' is no share from 0 to 1",
    (*AGENT, "--budget", "nan"): "nan is not a number",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One project for all tests that do not care what was run before."""
    return write_desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture(scope="module")
def gates(desk: Path) -> dict[Words, Done]:
    """What became of every command with a gate."""
    return dict(zip(GATES, run_many(desk, [(*words, *JSON) for words in GATES]), strict=True))


@pytest.fixture(scope="module")
def refusals(desk: Path) -> dict[Words, Done]:
    """What became of every command that cannot be run."""
    return dict(zip(REFUSED, run_many(desk, REFUSED), strict=True))


def told(done: subprocess.CompletedProcess[str]) -> Any:
    """The one object on stdout; anything else there is a failed test."""
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)


def rows(run: dict[str, Any], name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    text = (Path(run["artifacts"]) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_tells_its_numbers_and_where_to_look(steelyard: Steelyard, desk: Path) -> None:
    done = steelyard(*AGENT, cwd=desk)

    assert (done.returncode, done.stderr) == (0, WHO_GRADES)
    assert done.stdout.startswith("desk × agent  completed\n")
    assert "pass rate  75.0 % [30.1, 95.4]  3 of 4 evaluated (95 % interval)" in done.stdout
    assert "records    4 = 4 evaluated + 0 failed + 0 skipped" in done.stdout
    assert "inspect    steelyard show run_" in done.stdout


def test_json_is_one_object_and_nothing_else(steelyard: Steelyard, desk: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = steelyard(*AGENT, *JSON, cwd=desk, env=plain)
    run = told(done)

    assert (done.returncode, done.stderr) == (0, WHO_GRADES)
    assert list(run) == ["run_id", "status", "artifacts", "metrics"]
    assert (run["status"], run["metrics"]["pass_count"]) == ("completed", 3)
    assert {path.name for path in Path(run["artifacts"]).iterdir()} == ARTIFACTS
    assert [row["record_id"] for row in rows(run)] == ["hours", "loans", "fees", "parking"]


@pytest.mark.parametrize("words", GATES, ids=" ".join)
def test_gates_and_records_without_a_score_decide_on_the_exit_code(
    gates: dict[Words, Done], words: Words
) -> None:
    done = gates[words]
    lines = [line for line in done.stderr.splitlines() if not line.startswith("graded by")]
    said = [found[1] for line in lines if (found := TELLS.fullmatch(line))]

    assert (done.code, said) == GATES[words]
    assert len(said) == len(lines)
    assert json.loads(done.stdout)


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_cannot_be_run_is_told_on_stderr_with_2(
    refusals: dict[Words, Done], words: Words
) -> None:
    done = refusals[words]

    assert (done.code, done.stdout) == (2, "")
    assert REFUSED[words] in done.stderr
    assert "Traceback" not in done.stderr


def test_a_refusal_reaches_the_shell(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("run", "no.jsonl", "--target", "echo", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "steelyard: no such file: no.jsonl\n"


def test_an_invalid_record_is_counted_and_told(gates: dict[Words, Done]) -> None:
    run = json.loads(gates["run", "datasets/flawed.jsonl", "--target", "agent"].stdout)
    failures = rows(run, "failures.jsonl")

    assert run["status"] == "completed_with_failures"
    assert (run["metrics"]["invalid_records"], run["metrics"]["failed_records"]) == (1, 1)
    assert [(row["index"], row["status"]) for row in failures] == [(1, "invalid_record")]


def test_two_targets_make_a_group(gates: dict[Words, Done]) -> None:
    group = json.loads(gates[*AGENT, "--target", "moody"].stdout)

    assert list(group) == ["group", "runs"]
    assert group["group"].startswith("group_")
    assert [{row["target"] for row in rows(run)} for run in group["runs"]] == [
        {"agent"},
        {"moody"},
    ]


def test_a_response_file_with_two_candidates_makes_a_group(
    steelyard: Steelyard, desk: Path
) -> None:
    done = steelyard("run", DESK, "--responses", "responses/both.jsonl", *JSON, cwd=desk)
    runs = told(done)["runs"]

    assert done.returncode == 0
    assert [rows(run)[0]["target"] for run in runs] == ["ann", "bob"]
    assert [run["metrics"]["pass_count"] for run in runs] == [4, 3]
    assert {row["response_source"] for row in rows(runs[0])} == {"prefilled"}


def test_a_target_picks_one_candidate(steelyard: Steelyard, desk: Path) -> None:
    words = ("--responses", "responses/both.jsonl", "--target", "bob")
    done = steelyard("run", DESK, *words, *JSON, cwd=desk)

    assert done.returncode == 0
    assert told(done)["metrics"]["pass_count"] == 3


TALK = [
    {"role": "user", "content": "When do you open?"},
    {"role": "assistant", "content": "At nine."},
]


def case(name: str, messages: list[dict[str, str]]) -> str:
    says_nine = [{"type": "contains", "value": "nine"}]
    row = {"id": name, "expected_outcome": "Nine.", "input_messages": messages}
    return json.dumps({**row, "evaluators": says_nine}) + "\n"


def test_a_conversation_is_graded_by_its_own_last_answer(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    (tmp_path / "talks.jsonl").write_text(case("a", TALK), encoding="utf-8")
    done = steelyard("run", "talks.jsonl", "--responses", "conversation", *JSON, cwd=tmp_path)
    (row,) = rows(told(done))

    assert done.returncode == 0
    assert (row["target"], row["model_response"]) == ("conversation", "At nine.")
    assert (row["response_source"], row["passed"]) == ("part_of_conversation", True)
    assert row["latency_ms"] is None


def test_conversations_without_an_answer_are_named_before_any_run(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    rows = case("a", TALK) + case("b", TALK[:1])
    (tmp_path / "talks.jsonl").write_text(rows, encoding="utf-8")
    done = steelyard("run", "talks.jsonl", "--responses", "conversation", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "1 selected pair(s) have no assistant message: b × conversation" in done.stderr


def test_the_responses_of_a_run_are_graded_again_without_a_call(tmp_path: Path) -> None:
    write_desk(tmp_path)
    again = ("run", DESK, "--from-run", "latest", "--rubric", "rubric/polite@1.0", *JSON)
    first, second = run_many(tmp_path, [(*MOODY, *JSON), again])
    run = json.loads(second.stdout)

    assert (first.code, second.code) == (4, 4)
    assert len((tmp_path / "calls.txt").read_text(encoding="utf-8").splitlines()) == 3
    assert run["metrics"]["checks"]["says_please"]["pass_rate"]["value"] == 1.0
    assert [row["target"] for row in rows(run)] == ["moody"] * 4
    assert rows(run, "failures.jsonl")[0]["message"] == "RuntimeError: no mood for this"


def test_a_plan_makes_no_call_and_no_run(tmp_path: Path) -> None:
    write_desk(tmp_path)
    some = ("--target", "moody", "--limit", "2")
    text, plan, dear, played, listed = run_many(
        tmp_path,
        [
            (*AGENT, "--repeat", "3", "--plan"),
            (*AGENT, *some, "--plan", *JSON),
            ("run", "datasets/mixed.json", "--target", "dear", "--plan"),
            ("run", DESK, "--responses", "responses/both.jsonl", "--target", "ann", "--plan"),
            ("runs", *JSON),
        ],
    )

    assert (text.code, plan.code, dear.code) == (0, 0, 0)
    assert "records  4 = 4 valid + 0 invalid" in text.stdout
    assert "calls    12 to agent, 16 at once" in text.stdout
    assert "answers  4 recorded of ann, no call\n" in played.stdout
    assert "tokens" not in played.stdout
    assert "graded   by nothing: 1 record" in dear.stdout
    assert "cost     about $0.0010 for the input" in dear.stdout
    assert [plan["targets"] for plan in json.loads(plan.stdout)["plans"]] == [
        {"agent": 2},
        {"moody": 2},
    ]
    assert not (tmp_path / "calls.txt").exists()
    assert json.loads(listed.stdout) == {"data": []}


def test_records_are_selected_limited_and_repeated(steelyard: Steelyard, desk: Path) -> None:
    words = ("--where", "id != hours", "--limit", "2", "--repeat", "2")
    run = told(steelyard(*AGENT, *words, *JSON, cwd=desk))

    assert [(row["record_id"], row["repeat"]) for row in rows(run)] == [
        ("loans", 0),
        ("loans", 1),
        ("fees", 0),
        ("fees", 1),
    ]
    assert (run["metrics"]["total_records"], run["metrics"]["rows"]) == (2, 4)


def test_junit_and_markdown_are_for_machines_that_show_them(desk: Path) -> None:
    nightly = ("run", "--suite", "nightly", "--format")
    junit, markdown = run_many(desk, [(*MOODY, "--format", "junit"), (*nightly, "markdown")])
    suite = ET.fromstring(junit.stdout)[0]

    graded, why = junit.stderr.splitlines(keepends=True)

    assert (junit.code, graded) == (4, WHO_GRADES)
    assert TELLS.sub(r"\1", why) == f"{MISSING}\n"
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["5", "2", "1"]
    assert [case.get("name") for case in suite.findall("testcase")] == [
        "allow-failures",
        "hours",
        "loans",
        "fees",
        "parking",
    ]
    assert (markdown.code, markdown.stdout[:3]) == (4, "###")
    assert markdown.stdout.startswith("### desk × moody: 100.0 % [43.9, 100.0]; scores missing\n")
    assert "| records | 4 = 3 evaluated + 1 failed + 0 skipped |" in markdown.stdout


def test_a_store_that_cannot_be_used_is_3(steelyard: Steelyard, tmp_path: Path) -> None:
    write_desk(tmp_path)
    (tmp_path / ".steelyard").mkdir()
    (tmp_path / ".steelyard" / "steelyard.db").write_text("not a database" * 100, encoding="utf-8")
    done = steelyard(*AGENT, *JSON, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot use the store" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_that_cannot_be_sealed_does_not_keep_its_group_from_trying(tmp_path: Path) -> None:
    write_desk(tmp_path)
    (tmp_path / ".steelyard").mkdir()
    (tmp_path / ".steelyard" / "runs").write_text("in the way", encoding="utf-8")
    one, two = run_many(tmp_path, [(*AGENT, *JSON), (*AGENT, "--target", "echo", *JSON)])

    assert (one.code, one.stdout) == (3, "")
    assert two.code == 3
    assert json.loads(two.stdout)["runs"] == []
    assert two.stderr.count("steelyard: desk: cannot write") == 2
