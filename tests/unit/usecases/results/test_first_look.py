"""What to look at first: failures, then checks that fail, each with the first records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.served_runs import ServedRuns, make_runs
from servers.run_service import document
from steelyard import evaluate
from steelyard.project import Project, open_project
from steelyard.usecases.results.first_look import first_look
from steelyard.usecases.results.kept_results import KeptResults
from steelyard.usecases.results.sealed_files import stored_records


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, ServedRuns]]:
    runs = make_runs(tmp_path_factory.mktemp("runs"))
    with open_project(runs.root) as project:
        yield project, runs


def test_failures_come_before_checks_with_their_attempts(made: tuple[Project, ServedRuns]) -> None:
    project, runs = made
    records = stored_records(project.result_ports(), runs.done)

    failure, check = first_look(records, records.counts())

    assert (failure.title, failure.number) == ("No score: timeout", 1)
    assert failure.examples[0].name == "c"
    assert {one.error_code for one in failure.examples[0].attempts} == {"timeout"}
    assert (check.title, check.number) == ("Not passed: says_yes", 1)
    assert [one.name for one in check.examples] == ["b"]
    assert "does not contain" in check.words


def test_records_that_nothing_grades_are_named(made: tuple[Project, ServedRuns]) -> None:
    project, _ = made
    path = project.root / "ungraded.json"
    free = {"record_id": "free", "input": {"prompt": "Anything?"}}
    right = {**free, "record_id": "right", "expected": {"max_latency_ms": 120_000}}
    path.write_text(json.dumps(document([free, right])), encoding="utf-8")
    run = evaluate(path, target=str, project=project)
    records = stored_records(project.result_ports(), run.run_id)

    (item,) = first_look(records, records.counts())

    assert (item.kind, item.title, item.number) == ("skipped", "Skipped: graded by nothing", 1)
    assert [one.name for one in item.examples] == ["free"]
    assert "Not counted as 0." in item.words


def test_repeats_are_named(made: tuple[Project, ServedRuns]) -> None:
    project, runs = made
    records = stored_records(project.result_ports(), runs.repeated)

    failure, check = first_look(records, records.counts(), is_repeated=True)

    assert failure.number == 2
    assert [one.name for one in failure.examples] == ["c (repeat 0)", "c (repeat 1)"]
    assert [one.name for one in check.examples] == ["b (repeat 0)", "b (repeat 1)"]


def test_a_kept_result_is_computed_once_and_forgotten_when_others_are_asked_for() -> None:
    made: list[int] = []
    kept = KeptResults()

    def compute() -> int:
        made.append(1)
        return len(made)

    assert [kept.find("one", compute) for _ in range(3)] == [1, 1, 1]
    for number in range(200):
        kept.find(number, lambda: 0)
    assert kept.find("one", compute) == 2


def test_results_are_kept_with_the_project(tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    with open_project(tmp_path) as project:
        assert project.result_ports().kept is project.result_ports().kept
