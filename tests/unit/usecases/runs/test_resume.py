"""A run that was stopped anywhere goes on to the result it would have had."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker import Trial, check_run, stored_predictions
from fakes.metrics import measured
from fakes.projects import Project, row, rows_of, spec
from fakes.runs import stored_run
from fakes.stops import Stopped, StoppingTarget, stopping_at_artifact, stopping_at_state
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import RequestError, RunError, UnresumableError
from steelyard.results.artifacts import ARTIFACTS
from steelyard.usecases.runs.execute import is_held, start_run
from steelyard.usecases.runs.ports import RunPorts

pytestmark = pytest.mark.usefixtures("both_stores")
ROWS = [row(f"r{number}") for number in range(20)] + [{"id": "invalid"}]
INVALID = (20, 0)


def living(_: str) -> bool:
    return True


def dead(_: str) -> bool:
    return False


@pytest.fixture
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the same dataset that nobody stopped."""
    project = Project(tmp_path_factory.mktemp("uninterrupted"))
    run = project.run(project.ports(ScriptedTarget()), project.cases(ROWS))
    project.close()
    return Path(run.folder)


def stop(project: Project, ports: RunPorts, **options: Any) -> Path:
    """A run that is stopped; its folder, which may not be there yet."""
    with pytest.raises(Stopped):
        project.run(ports, project.cases(ROWS), **options)
    run_id = project.ports().repository.find("latest").run_id
    return project.root / ".steelyard" / "runs" / run_id


def go_on(project: Project, target: ScriptedTarget, folder: Path, uninterrupted: Path) -> None:
    """Resume in another process, as it were, and check the result."""
    kept = stored_predictions(folder)
    run = project.resume(project.ports(target))

    assert run.folder == str(folder)
    check_run(folder, Trial(acknowledged=kept, uninterrupted=uninterrupted))
    assert len(target.calls) == len(ROWS) - 1 - len([place for place in kept if place != INVALID])


@pytest.mark.parametrize("answers", [0, 1, 10, 19])
def test_a_run_goes_on_after_any_number_of_results(
    project: Project, uninterrupted: Path, answers: int
) -> None:
    target = StoppingTarget(after=answers)
    folder = stop(project, project.ports(target), max_concurrency=2)

    go_on(project, ScriptedTarget(), folder, uninterrupted)


@pytest.mark.parametrize("state", ["validating", "running", "finalizing", "completed"])
def test_a_run_goes_on_from_every_state(project: Project, uninterrupted: Path, state: str) -> None:
    ports = stopping_at_state(project.ports(ScriptedTarget()), state)
    folder = stop(project, ports)

    go_on(project, ScriptedTarget(), folder, uninterrupted)


@pytest.mark.parametrize(
    "is_begun",
    [pytest.param(False, marks=pytest.mark.trials), True],
    ids=["before", "in the middle"],
)
@pytest.mark.parametrize("name", ARTIFACTS)
def test_a_run_goes_on_from_every_artifact(
    project: Project, uninterrupted: Path, name: str, is_begun: bool
) -> None:
    ports = stopping_at_artifact(project.ports(ScriptedTarget()), name, is_begun=is_begun)
    folder = stop(project, ports)

    go_on(project, ScriptedTarget(), folder, uninterrupted)


def test_a_sealed_run_is_not_written_again(project: Project) -> None:
    folder = stop(project, stopping_at_state(project.ports(ScriptedTarget()), "completed"))
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / ".run_manifest.json.99.part").write_text("left", encoding="utf-8")
    run = project.resume(project.ports(ScriptedTarget()))

    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert run.status == "completed_with_failures"
    assert measured(run).total_records == 21


def test_a_finished_run_is_told_and_nothing_is_asked(project: Project) -> None:
    first = project.run(project.ports(ScriptedTarget()), project.cases(ROWS))
    target = ScriptedTarget()

    assert project.resume(project.ports(target)) == first
    assert target.calls == []


def test_attempts_go_on_counting_after_a_stop(project: Project) -> None:
    project.write("steelyard.yaml", "retry: {backoff_s: [0.01]}")

    class Dying(ScriptedTarget):
        async def ask(self, request: Any) -> Any:
            if request.attempt == 2:
                raise Stopped
            return await super().ask(request)

    dataset = project.cases([row("a")])
    with pytest.raises(Stopped):
        project.run(project.ports(Dying({"a": [fails("timeout")]})), dataset)
    target = ScriptedTarget({"a": [fails("timeout"), fails("timeout")]})
    run = project.resume(project.ports(target))
    check_run(Path(run.folder))
    logged = [entry["attempt"] for entry in rows_of(run, "attempt_logs.jsonl")]

    assert [request.attempt for request in target.calls] == [2, 3]
    assert logged == [1, 2, 3]
    assert rows_of(run)[0]["status"] == "timeout"


def test_every_repeat_goes_on_by_itself(project: Project) -> None:
    target = StoppingTarget(after=7)
    with pytest.raises(Stopped):
        project.run(project.ports(target), project.cases(ROWS[:4]), repeat=3, max_concurrency=1)
    rest = ScriptedTarget()
    run = project.resume(project.ports(rest))
    check_run(Path(run.folder))

    assert len(rows_of(run)) == 12
    assert 5 <= len(rest.calls) <= 6


def rubric(pattern: str) -> str:
    checks = f"[{{id: c, kind: regex, pattern: {pattern}}}]"
    return f"{{id: first, version: 1.0.0, checks: {checks}, scoring: {{combine: all_pass}}}}"


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("d.jsonl", json.dumps(row("c")), "the dataset"),
        ("d.yaml", "dataset: other", "the dataset"),
        ("notes.md", "Be long.", "a file that the dataset shows"),
        ("rubrics/first.yaml", rubric("no"), "a rubric"),
    ],
)
def test_a_run_whose_source_has_changed_does_not_go_on(
    project: Project, name: str, text: str, what: str
) -> None:
    project.write("rubrics/first.yaml", rubric("yes"))
    project.write("notes.md", "Be brief.")
    shown = [{"role": "user", "content": [{"type": "file", "value": "notes.md"}]}]
    dataset = project.cases([row("a", input=shown), row("b")])
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=0)), dataset, rubric="first")
    project.write(name, text)
    target = ScriptedTarget()

    with pytest.raises(RunError, match=rf"{what} of run_.* has changed since it began; start a"):
        project.resume(project.ports(target))
    assert target.calls == []


def test_a_run_whose_model_has_changed_does_not_go_on(project: Project) -> None:
    stop(project, project.ports(spec(StoppingTarget(after=0), model="m-1")))

    with pytest.raises(RunError, match=r"a target's model, sampling or prompt of run_.* has chan"):
        project.resume(project.ports(spec(ScriptedTarget(), model="m-2")))
    assert project.resume(project.ports(spec(ScriptedTarget(), model="m-1"))).metrics


def test_a_run_whose_responses_have_changed_does_not_go_on(project: Project) -> None:
    said = '{"record_id": "a", "response_text": "%s"}\n'
    project.write("r.jsonl", said % "yes")
    options = {"responses": Path("r.jsonl"), "target": None}
    ports, dataset = stopping_at_state(project.ports(), "finalizing"), project.cases([row("a")])
    with pytest.raises(Stopped):
        project.run(ports, dataset, **options)
    project.write("r.jsonl", said % "no")
    with pytest.raises(RunError, match=r"the response file of run_.* has changed"):
        project.resume(project.ports())
    project.write("r.jsonl", said % "yes")

    assert project.resume(project.ports()).status == "completed"


def test_a_run_whose_target_is_another_program_by_now_does_not_go_on(project: Project) -> None:
    stop(project, stopping_at_state(project.ports(ScriptedTarget()), "running"))
    project.write("steelyard.yaml", "targets: {scripted: {provider: echo}}\n")

    with pytest.raises(RunError, match=r"targets\.scripted is not what run_.* its provider was"):
        project.resume(project.ports())


def test_a_run_that_another_living_process_works_on_is_left_alone(project: Project) -> None:
    stop(project, stopping_at_state(project.ports(ScriptedTarget(), owner="a:1:1"), "running"))
    target = ScriptedTarget()

    with pytest.raises(RequestError, match=r"is being worked on by another process \(a:1:1\)"):
        project.resume(project.ports(target, owner="b:2:2", is_alive=living))
    project.resume(project.ports(target, owner="b:2:2", is_alive=dead))
    assert len(target.calls) == 20


@pytest.mark.parametrize(
    ("owner", "left_s", "is_alive", "expected"),
    [
        (None, 10.0, living, False),
        ("a", 10.0, living, True),
        ("a", 10.0, dead, False),
        ("a", None, living, True),
        ("a", 0.1, living, True),
        ("a", 0.0, living, False),
        ("a", -3600.0, living, False),
    ],
)
def test_a_run_is_held_by_one_who_lives_and_has_not_rested_too_long(
    project: Project,
    owner: str | None,
    left_s: float | None,
    is_alive: Callable[[str], bool],
    expected: bool,
) -> None:
    run = replace(stored_run(owner=owner), lease_left_s=left_s)

    assert is_held(project.ports(is_alive=is_alive), run) is expected


def test_a_process_may_go_on_with_its_own_run(project: Project) -> None:
    stop(project, stopping_at_state(project.ports(ScriptedTarget(), owner="a"), "running"))
    run = project.resume(project.ports(ScriptedTarget(), owner="a", is_alive=living))

    assert run.status == "completed_with_failures"


def test_a_run_that_fails_is_free_for_others_though_its_process_lives(project: Project) -> None:
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=3)), project.cases(ROWS))

    assert project.ports().repository.find("latest").owner is None


def test_of_two_processes_that_resume_a_run_one_is_refused(project: Project) -> None:
    stop(project, stopping_at_state(project.ports(ScriptedTarget(), owner="dead"), "running"))
    ports = project.ports(ScriptedTarget(), owner="me", is_alive=dead)
    read = ports.repository.find("latest")
    assert ports.repository.claim(read, "another", "now", None)

    with pytest.raises(RequestError, match="was taken over by another process just now"):
        project.resume(ports, read)


@pytest.mark.sqlite
def test_a_run_that_nobody_can_go_on_with_has_failed(project: Project) -> None:
    """A result was kept of a record that its dataset does not have."""
    stop(project, project.ports(StoppingTarget(after=5)))
    connection = sqlite3.connect(project.root / ".steelyard" / "steelyard.db")
    with closing(connection), connection:
        connection.execute(
            "UPDATE results SET validation = CAST(replace(CAST(validation AS TEXT), "
            '\'"record_sha256":"\', \'"record_sha256":"0\') AS BLOB) WHERE idx = 0'
        )
    with pytest.raises(UnresumableError, match="belong to another version"):
        project.resume(project.ports(ScriptedTarget()))
    again = project.resume(project.ports(ScriptedTarget()))

    assert (again.status, again.metrics) == ("failed", None)


@pytest.mark.parametrize("exit_", [SystemExit(4), KeyboardInterrupt()])
def test_a_callback_that_exits_lets_the_run_go(project: Project, exit_: BaseException) -> None:
    def leave(_: object) -> None:
        raise exit_

    ports = project.ports(ScriptedTarget())
    prepared = project.prepare(ports, project.cases([row("a"), row("b")]))
    with pytest.raises(type(exit_)):
        asyncio.run(start_run(ports, prepared, lambda _: None, leave))

    assert ports.repository.find("latest").owner is None
    assert project.resume(ports).status == "completed"
