"""Runs from start to end, with a real store and a target that follows a script."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.metrics import measured
from fakes.projects import Project, json_of, row, rows_of, spec
from fakes.targets import Said, ScriptedTarget, fails, trace
from steelyard.errors import ConflictError, ConnectionLostError
from steelyard.execution.run_options import RunOptions
from steelyard.usecases.runs.execute import FinishedRun, create_run, execute_run

SCRIPT: dict[str, list[Said]] = {
    "wrong": ["no"],
    "late": [fails("timeout")],
    "broken": [fails("bad_request")],
    "moody": [fails("rate_limited"), fails("internal_error"), "yes"],
    "busy": [fails("service_unavailable")],
}
ROWS = [
    row("good", tags=["x"], metadata={"topic": "a"}),
    row("wrong", tags=["x", "y"]),
    {"id": "invalid"},
    row("late"),
    row("broken", tags=["y"]),
    row("moody"),
    row("ungraded", evaluator="contains", evaluators=[]),
    row("busy"),
    row("good", input="the same id again"),
]
STATUSES = {
    0: "evaluated",
    1: "evaluated",
    2: "invalid_record",
    3: "timeout",
    4: "evaluation_error",
    5: "evaluated",
    6: "skipped",
    7: "evaluation_error",
    8: "invalid_record",
}


@pytest.fixture
def finished(project: Project) -> FinishedRun:
    """A run in which everything happens."""
    return project.run(project.ports(ScriptedTarget(SCRIPT)), project.cases(ROWS))


def test_every_record_has_its_row_with_its_status(finished: FinishedRun) -> None:
    check_run(Path(finished.folder))
    rows = rows_of(finished)

    assert {entry["index"]: entry["status"] for entry in rows} == STATUSES
    assert [entry["passed"] for entry in rows[:2]] == [True, False]
    assert rows[0]["model_response"] == "yes"
    assert rows[3]["model_response"] is None
    assert rows[6]["reason"]


def test_the_denominators_are_those_of_the_contract(finished: FinishedRun) -> None:
    metrics = measured(finished)
    names = ("total", "valid", "evaluated", "failed", "skipped", "invalid", "cancelled")

    assert [getattr(metrics, f"{name}_records") for name in names] == [9, 7, 3, 5, 1, 2, 0]
    assert (metrics.pass_count, metrics.fail_count) == (2, 1)
    assert (metrics.attempts, metrics.retried_records) == (3 + 1 + 3 + 3 + 1 + 1, 3)


def test_a_run_with_failures_says_so(finished: FinishedRun) -> None:
    assert finished.status == "completed_with_failures"
    assert json_of(finished)["status"] == "completed_with_failures"


def test_failures_are_labelled_and_what_was_skipped_is_none(finished: FinishedRun) -> None:
    labels = [(entry["index"], entry["label"]) for entry in rows_of(finished, "failures.jsonl")]

    assert labels == [
        (2, "missing_required_field"),
        (3, "timeout"),
        (4, "bad_request"),
        (7, "service_unavailable"),
        (8, "duplicate_record_id"),
    ]


def test_the_reason_of_a_rejected_record_is_kept(finished: FinishedRun) -> None:
    rows = rows_of(finished, "record_validation.jsonl")

    assert [entry["result"] for entry in rows].count("rejected") == 2
    assert {error["code"] for error in rows[2]["errors"]} == {"missing_required_field"}
    assert rows[8]["errors"][0]["line"] == 9


def test_every_attempt_is_logged(finished: FinishedRun) -> None:
    logged = [
        (entry["attempt"], entry["error_code"])
        for entry in rows_of(finished, "attempt_logs.jsonl")
        if entry["record_id"] == "moody"
    ]

    assert logged == [(1, "rate_limited"), (2, "internal_error"), (3, None)]


def test_slices_count_the_records_of_each_value(finished: FinishedRun) -> None:
    slices = json_of(finished, "metrics_by_slice.json")["slices"]
    counted = {(one["slice"], one["value"]): one["total_records"] for one in slices}

    assert counted == {
        ("tags", "x"): 2,
        ("tags", "y"): 2,
        ("tags", None): 6,
        ("task_type", None): 9,
    }


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("metadata.topic", {"a", None}),
        ("metadata", {None}),
        ("id", {"good", "wrong"}),
        ("metadata.n", {"7", None}),
    ],
)
def test_a_project_may_slice_by_any_field(
    project: Project, path: str, values: set[str | None]
) -> None:
    project.write("steelyard.yaml", f"slices: [{path}]")
    rows = [row("good", metadata={"topic": "a", "n": 7}), row("wrong", tags=[])]
    run = project.run(project.ports(ScriptedTarget()), project.cases(rows))

    assert {one["value"] for one in json_of(run, "metrics_by_slice.json")["slices"]} == values


def test_a_run_where_everything_worked_is_completed(project: Project) -> None:
    target = ScriptedTarget()
    run = project.run(project.ports(target), project.cases([row("a"), row("b")]))
    check_run(Path(run.folder))

    assert run.status == "completed"
    assert target.is_closed
    assert sorted(result.index for result in project.seen) == [0, 1]


def test_the_store_knows_the_run(project: Project) -> None:
    ports = project.ports(ScriptedTarget())
    run = project.run(ports, project.cases([row("a")]))
    stored = ports.repository.find("latest")

    assert re.fullmatch(r"run_[0-9A-Z]{26}", run.run_id)
    assert (stored.run_id, stored.status, stored.owner) == (run.run_id, "completed", None)
    assert (stored.dataset, stored.target, stored.summary) == (
        "d",
        "scripted",
        measured(run).json(),
    )


def test_unselected_records_are_in_no_denominator_and_no_artifact(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases(ROWS), where="tags = x")
    check_run(Path(run.folder))

    assert measured(run).total_records == 2
    assert [entry["index"] for entry in rows_of(run)] == [0, 1]
    records = json_of(run, "input_dataset.json")["records"]
    assert [entry["index"] for entry in records] == [0, 1]


def test_invalid_records_are_counted_in_their_slices(project: Project) -> None:
    """As far as they can be read; no slice has fewer records than the run."""
    broken: list[object] = [
        {"id": "a", "tags": ["x", "y"]},
        {"id": "b", "tags": "x", "metadata": {"task_type": "chat"}},
        {"id": "c", "tags": ["x" * 64, "x" * 65]},
        {"id": "d", "tags": ["\u0007", None, {"x": 1}]},
        {"id": "e"},
    ]
    rows = [row("good", tags=["x"], metadata={"task_type": "qa"}), *broken]
    run = project.run(project.ports(ScriptedTarget()), project.cases(rows))
    check_run(Path(run.folder))
    found = [
        (entry["slice"], entry["value"], entry["total_records"], entry["invalid_records"])
        for entry in json_of(run, "metrics_by_slice.json")["slices"]
    ]

    assert found == [
        ("tags", "x", 3, 2),
        ("tags", "x" * 64, 1, 1),
        ("tags", "y", 1, 1),
        ("tags", None, 3, 3),
        ("task_type", "chat", 1, 1),
        ("task_type", "qa", 1, 0),
        ("task_type", None, 4, 4),
    ]


@pytest.mark.parametrize(
    ("metadata", "slices"),
    [
        ({"task_type": "qa"}, [("chat", 1), ("qa", 2)]),
        ({"task_type": 7}, [("chat", 1), (None, 2)]),
        ({}, [("chat", 1), (None, 2)]),
    ],
)
def test_the_task_type_of_a_document_is_in_its_metadata(
    project: Project, metadata: dict[str, object], slices: list[object]
) -> None:
    latency = {"expected": {"max_latency_ms": 60000}}
    records = [
        {"record_id": "a", "input": {"prompt": "?"}, **latency},
        {"record_id": "b", "input": {"prompt": 7}},
        {"record_id": "c", "input": {"prompt": "?"}, "metadata": {"task_type": "chat"}, **latency},
    ]
    run = project.run(
        project.ports(ScriptedTarget()), project.document(records, metadata=metadata)
    )
    found = json_of(run, "metrics_by_slice.json")["slices"]

    assert [
        (entry["value"], entry["total_records"]) for entry in found if entry["slice"] != "tags"
    ] == slices


def test_repeats_are_rows_of_one_record(project: Project) -> None:
    target = ScriptedTarget({"b": ["no"]})
    run = project.run(project.ports(target), project.cases([row("a"), row("b")]), repeat=3)
    check_run(Path(run.folder))
    places = [(entry["index"], entry["repeat"]) for entry in rows_of(run)]

    assert places == [(index, repeat) for index in (0, 1) for repeat in (0, 1, 2)]
    assert (measured(run).total_records, measured(run).rows) == (2, 6)
    assert sorted({request.repeat for request in target.calls}) == [0, 1, 2]


def test_a_record_is_failed_only_when_every_repeat_is(project: Project) -> None:
    """A case's pass is the mean over the repeats that were evaluated."""

    class Moody(ScriptedTarget):
        async def ask(self, request: Any) -> Any:
            if request.repeat:
                raise fails("bad_request")
            return trace("yes")

    run = project.run(project.ports(Moody()), project.cases([row("a")]), repeat=2)
    check_run(Path(run.folder))

    assert (measured(run).evaluated_records, measured(run).failed_records) == (1, 0)
    assert len(rows_of(run, "failures.jsonl")) == measured(run).failure_rows == 1
    assert run.status == json_of(run)["status"] == "completed_with_failures"


def test_cases_may_have_their_own_targets(project: Project) -> None:
    ports = project.ports(ScriptedTarget(name="default"), ScriptedTarget(name="other"))
    dataset = project.cases([row("a"), row("b", execution={"target": "other"})])
    run = project.run(ports, dataset, target=None)
    check_run(Path(run.folder))

    assert [entry["target"] for entry in rows_of(run)] == ["default", "other"]
    assert json_of(run)["model"] is None
    assert set(json_of(run)["targets"]) == {"default", "other"}
    assert ports.repository.find("latest").target is None


def test_a_price_gives_every_row_its_cost(project: Project) -> None:
    ports = project.ports(spec(ScriptedTarget(), price=(1.0, 2.0)))
    run = project.run(ports, project.cases([row("a"), row("b")]))

    assert [entry["cost_usd"] for entry in rows_of(run)] == [0.00002, 0.00002]
    assert json_of(run, "metrics_summary.json")["cost_usd"] == {
        "total": 0.00004,
        "n": 2,
        "judging": None,
    }


def test_a_record_id_that_is_no_text_harms_nobody(project: Project) -> None:
    """Half a surrogate pair in one record must not sink the others."""
    project.write(
        "d.json",
        '{"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0", "records": ['
        '{"record_id": "a\\ud800", "input": {"prompt": "?"}}, {"record_id": "b", "input": '
        '{"prompt": "?"}, "expected": {"max_latency_ms": 100}}]}',
    )
    run = project.run(project.ports(ScriptedTarget()), Path("d.json"))
    check_run(Path(run.folder))

    assert [entry["status"] for entry in rows_of(run)] == ["invalid_record", "evaluated"]


def test_a_dataset_may_have_a_name_of_odd_bytes(project: Project) -> None:
    name = b"caf\xe9.jsonl".decode("utf-8", "surrogateescape")
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")], name))
    check_run(Path(run.folder))

    assert json_of(run)["dataset_id"] == "caf\ufffd"


def test_a_run_that_one_process_creates_another_executes(project: Project) -> None:
    maker = project.ports(ScriptedTarget(), owner="here:1:1")
    options = RunOptions(dataset=project.cases([row("a"), row("b")]), target="scripted")
    queued = asyncio.run(create_run(maker, options))
    waiting = maker.repository.find(queued.run_id)

    assert (waiting.status, waiting.owner) == ("queued", None)

    worker = project.ports(ScriptedTarget(), owner="here:2:2")
    done = asyncio.run(execute_run(worker, queued.run_id, project.seen.append))
    check_run(Path(done.folder))

    assert (done.run_id, done.status, len(project.seen)) == (queued.run_id, "completed", 2)
    assert json_of(done)["interruptions"] == []


def test_a_run_is_executed_once_at_a_time_within_a_process(project: Project) -> None:
    target = ScriptedTarget()
    ports = project.ports(target)
    options = RunOptions(dataset=project.cases([row("a")]), target="scripted")

    async def twice() -> list[FinishedRun | BaseException]:
        queued = await create_run(ports, options)
        target.held = asyncio.Event()
        first = asyncio.ensure_future(execute_run(ports, queued.run_id, project.seen.append))
        while not ports.executing:
            await asyncio.sleep(0)
        second = asyncio.ensure_future(execute_run(ports, queued.run_id, project.seen.append))
        await asyncio.wait([second])
        target.held.set()
        return list(await asyncio.gather(first, second, return_exceptions=True))

    first, second = asyncio.run(twice())

    assert isinstance(first, FinishedRun)
    assert isinstance(second, ConflictError)


def test_every_lost_call_has_a_row_however_soon_the_next_one_is_made(project: Project) -> None:
    lost = ConnectionLostError("service_unavailable", "closed", away="unreachable")
    names = [f"r{number}" for number in range(8)]
    target = ScriptedTarget({name: [lost, lost, "yes"] for name in names})

    run = project.run(project.ports(target), project.cases(map(row, names)))

    check_run(Path(run.folder))
    assert measured(run).pass_count == len(names)
    assert measured(run).outage_calls == 2 * len(names) == len(target.calls) - len(names)
