"""`steelyard retry` and `steelyard regrade` as a user gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checker import check_run
from fakes.desk_project import AGENT, write_desk
from fakes.many_commands import Done, run_many
from servers.in_thread import in_thread
from servers.openai_server import says, serving

if TYPE_CHECKING:
    from aiohttp import web

pytestmark = pytest.mark.usefixtures("both_stores")
JSON = ("--format", "json")
MOODY = ("run", "datasets/desk.jsonl", "--target", "moody", *JSON)
HEALED = AGENT.replace('raise RuntimeError("no mood for this")', "return answer(prompt)")
GONE = AGENT.replace("def answer(prompt):\n", "def answer(prompt):\n    raise SystemExit(99)\n")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A help desk."""
    return write_desk(tmp_path)


def row_of(done: Done) -> dict[str, Any]:
    return json.loads(done.stdout)


def predictions(done: Done) -> list[dict[str, Any]]:
    return artifact(done, "predictions.jsonl")


def artifact(done: Done, name: str) -> list[dict[str, Any]]:
    text = (Path(row_of(done)["artifacts"]) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def manifest(done: Done) -> dict[str, Any]:
    return json.loads((Path(row_of(done)["artifacts"]) / "run_manifest.json").read_bytes())


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text(encoding="utf-8").splitlines()


def test_the_failed_records_are_run_again_and_then_there_are_none(desk: Path) -> None:
    (first,) = run_many(desk, [MOODY])
    (desk / "desk_agent.py").write_text(HEALED, encoding="utf-8")
    before = calls(desk)
    again, none, shown = run_many(
        desk, [("retry", "latest", *JSON), ("retry", "latest"), ("show", "latest")]
    )
    derived = manifest(again)["derived_from"]

    assert (first.code, again.code) == (4, 0)
    assert calls(desk)[len(before) :] == ["Was kosten Bücher?"]
    copied = [row["record_id"] for row in predictions(again) if row.get("copied_from")]
    assert [row["record_id"] for row in predictions(again)] == [
        "hours",
        "loans",
        "fees",
        "parking",
    ]
    assert copied == ["hours", "loans", "parking"]
    metrics = row_of(again)["metrics"]
    assert (metrics["evaluated_records"], metrics["attempts"]) == (4, 4)
    assert metrics["copied"] == {"rows": 3, "attempts": 3, "cost_usd": 0.0}
    assert metrics["new"] == {"rows": 1, "attempts": 1, "cost_usd": None}
    assert (derived["run_id"], derived["how"]) == (row_of(first)["run_id"], "retry")
    assert (none.code, none.stdout) == (2, "")
    assert f"{row_of(again)['run_id']} has no failed record to try again" in none.stderr
    assert shown.code == 0
    check_run(Path(row_of(again)["artifacts"]))


def test_a_run_and_its_regrading_write_latencies_in_one_form(desk: Path) -> None:
    rows = [
        {"record_id": name, "response_text": "x", "latency_ms": ms}
        for name, ms in (("hours", 742), ("loans", 742.0), ("fees", 0.5), ("parking", 0))
    ]
    (desk / "told.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    rubric = ("--rubric", "rubric/polite@1.0")
    run, again = run_many(
        desk,
        [
            ("run", "datasets/desk.jsonl", "--responses", "told.jsonl", *rubric, *JSON),
            ("regrade", "latest", *rubric, *JSON),
        ],
    )

    for name in ("predictions.jsonl", "attempt_logs.jsonl"):
        for done in (run, again):
            found = [repr(row["latency_ms"]) for row in artifact(done, name)]
            assert found == ["742.0", "742.0", "0.5", "0.0"], run.stderr


def test_a_retry_after_a_selection_by_a_hidden_field_is_about_the_same_records(
    desk: Path,
) -> None:
    with (desk / "steelyard.yaml").open("a", encoding="utf-8") as stream:
        stream.write("redaction: {fields: [expected_outcome]}\n")
    where = ("--where", "expected_outcome ~ i", "--workers", "2")
    first, again, regraded = run_many(
        desk,
        [
            (*MOODY, *where),
            ("retry", "latest", *JSON),
            ("regrade", "latest", "--rubric", "rubric/polite@1.0", *JSON),
        ],
    )

    assert (first.code, again.code) == (4, 4), first.stderr + again.stderr
    for done in (first, again):
        kept = manifest(done)["options"]["where"]
        assert kept == "expected_outcome ~ [redacted:expected_outcome]"
        assert [row["record_id"] for row in predictions(done)] == ["hours", "fees"]
    assert [row["record_id"] for row in predictions(regraded)] == ["hours", "fees"]


def test_the_gates_of_the_first_run_hold_for_what_is_run_again(desk: Path) -> None:
    run, again = run_many(desk, [(*MOODY, "--allow-failures", "1"), ("retry", "latest", *JSON)])

    assert (run.code, again.code) == (0, 0)
    assert row_of(again)["metrics"]["failed_records"] == 1


def test_stored_traces_are_graded_anew_and_no_agent_is_called(desk: Path) -> None:
    (first,) = run_many(desk, [MOODY])
    (desk / "desk_agent.py").write_text(GONE, encoding="utf-8")
    before = calls(desk)
    regrade = ("regrade", "latest", "--rubric", "rubric/polite@1.0.0")
    again, text, folder = run_many(
        desk,
        [(*regrade, *JSON), regrade, ("regrade", row_of(first)["artifacts"], *regrade[2:], *JSON)],
    )

    assert calls(desk) == before
    assert (again.code, text.code, folder.code) == (4, 4, 4)
    missing = "1 of 4 record(s) have no score, more than --allow-failures 0"
    assert again.stderr.splitlines() == [
        "grading stored traces, in which secrets and personal data are redacted",
        "graded by rubric/polite@1.0.0 (1 check): 4 records",
        f"steelyard: {row_of(again)['run_id']}: {missing}",
    ]
    assert [row["passed"] for row in predictions(again)] == [True, True, None, True]
    assert [row["passed"] for row in predictions(folder)] == [True, True, None, True]
    assert "desk × moody" in text.stdout
    check_run(Path(row_of(again)["artifacts"]))


LIVE = """\
targets:
  live: {{provider: openai, base_url: "{url}", model: m, max_concurrency: 4}}
retry: {{max_attempts: 3, backoff_s: [0]}}
"""


async def sulks_over_books(request: web.Request) -> web.StreamResponse:
    """Tells a mail address, but has no answer to one question."""
    told = {"role": "assistant", "content": "Nine, please; mail ann@example.org."}
    choice = {"message": told, "finish_reason": "stop"}
    is_asked = "Bücher" in json.loads(await request.read())["messages"][-1]["content"]
    return await says({"choices": [choice]}, 503 if is_asked else 200)(request)


def test_a_regraded_run_keeps_the_attempts_and_counts_of_the_first(desk: Path) -> None:
    with in_thread(serving(sulks_over_books)) as url:
        (desk / "steelyard.yaml").write_text(LIVE.format(url=url), encoding="utf-8")
        (first,) = run_many(desk, [("run", "datasets/desk.jsonl", "--target", "live", *JSON)])
        (retried,) = run_many(desk, [("retry", "latest", *JSON)])
    regrade = ("regrade", row_of(first)["run_id"], "--rubric", "rubric/polite@1.0.0", *JSON)
    again, twice = run_many(desk, [regrade, (regrade[0], "latest", *regrade[2:])])

    assert (first.code, again.code, twice.code) == (4, 4, 4)
    logged = artifact(first, "attempt_logs.jsonl")
    copied = [{"copied_from": row_of(first)["run_id"], **row} for row in logged]
    assert len(logged) == 6
    for one in (again, twice):
        assert artifact(one, "attempt_logs.jsonl") == copied
        assert artifact(one, "failures.jsonl") == artifact(first, "failures.jsonl")
        assert row_of(one)["metrics"]["attempts"] == 6
        assert row_of(one)["metrics"]["copied"] == {"rows": 0, "attempts": 6, "cost_usd": 0.0}
        assert row_of(one)["metrics"]["new"]["attempts"] == 0
        assert manifest(one)["redaction"] == manifest(first)["redaction"]
        check_run(Path(row_of(one)["artifacts"]))
    assert artifact(first, "failures.jsonl")[0]["attempts"] == 3
    assert manifest(first)["redaction"]["patterns"]["email"] > 0
    assert manifest(retried)["redaction"] == manifest(first)["redaction"]


@pytest.mark.sqlite
def test_a_retry_is_refused_where_the_results_of_its_parent_are_gone(
    desk: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (first,) = run_many(desk, [MOODY])
    elsewhere = write_desk(tmp_path_factory.mktemp("elsewhere"))
    (refused,) = run_many(elsewhere, [("retry", row_of(first)["artifacts"])])
    (listed,) = run_many(elsewhere, [("runs", *JSON)])

    assert (refused.code, refused.stdout) == (2, "")
    assert f"the results of {row_of(first)['run_id']} are not in this project's" in refused.stderr
    assert row_of(listed)["data"] == []


def test_a_document_is_regraded_though_its_file_is_gone(desk: Path) -> None:
    run = ("run", "datasets/mixed.json", "--target", "agent", *JSON)
    (first,) = run_many(desk, [run])
    (desk / "datasets" / "mixed.json").unlink()
    (again,) = run_many(desk, [("regrade", "latest", "--rubric", "polite", *JSON)])

    assert first.code == 4
    found = [(row["record_id"], row["status"]) for row in predictions(again)]
    assert found == [(row["record_id"], row["status"]) for row in predictions(first)]
    assert (again.code, [status for _, status in found].count("evaluated")) == (4, 1)
    assert "1 record(s) have no answer to grade (1 skipped); they are in" in again.stderr
    check_run(Path(row_of(again)["artifacts"]))


def test_what_cannot_be_derived_is_refused_with_the_reason(desk: Path) -> None:
    (first,) = run_many(desk, [MOODY])
    run_id = row_of(first)["run_id"]
    refused = {
        ("regrade", "latest", "--rubric", "rubric/no@1.0.0"): "cannot resolve rubric/no@1.0.0",
        ("regrade", "latest"): "Missing option '--rubric'",
        ("retry", "run_NO"): "no run 'run_NO' in this project",
    }
    changed = {
        ("retry", "latest"): f"datasets/desk.jsonl has changed since {run_id}; start a new run",
        ("regrade", "latest", "--rubric", "polite"): "datasets/desk.jsonl has changed since",
    }
    done = run_many(desk, refused)
    dataset = desk / "datasets" / "desk.jsonl"
    dataset.write_bytes(dataset.read_bytes().replace(b"nine", b"ten"))
    done += run_many(desk, changed)

    assert {(one.code, one.stdout) for one in done} == {(2, "")}
    for one, said in zip(done, (*refused.values(), *changed.values()), strict=True):
        assert said in one.stderr
