"""Every verb logs what it changed under the caller that it was given."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest

from fakes.audit import ANN
from fakes.definitions import JUDGE, QUESTIONS, RUBRIC
from fakes.judged_desk import REF, drawn, label, write_judged_desk, write_rows
from fakes.projects import Project as Folder
from fakes.projects import row
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import InvalidError, NotFoundError
from steelyard.execution.run_options import RunOptions
from steelyard.model.audit import AuditEntry, Caller
from steelyard.project import Project, open_project
from steelyard.results.audit import AuditQuery
from steelyard.results.records import RecordQuery, Sort
from steelyard.settings import RetentionSettings
from steelyard.store.audit_log import AuditStore
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from steelyard.usecases.judges.validate_judge import (
    ValidationRequest,
    plan_validation,
    validate_judge,
)
from steelyard.usecases.registry.publish import carry_out, plan_publication
from steelyard.usecases.results.audit_log import list_changes
from steelyard.usecases.results.find_run import records_of
from steelyard.usecases.results.records import list_predictions
from steelyard.usecases.results.run_events import run_events
from steelyard.usecases.review.import_labels import LabelFile, import_labels
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.derived_runs import regrade_options, retry_options
from steelyard.usecases.runs.evaluate import evaluate
from steelyard.usecases.runs.execute import create_run, execute_run, resume_run, start_run
from steelyard.usecases.runs.prepare import prepare
from steelyard.usecases.runs.prune import plan_pruning, prune
from steelyard.usecases.settings.saved_settings import delete_target, save_suite, save_target

BOB = Caller("bob", "req_0")
"""Who does what comes before."""
Verb: TypeAlias = Callable[[Folder, Project], str]


def _ignore(_: object) -> None:
    """Nobody looks on."""


def _options(folder: Folder, **more: str) -> RunOptions:
    return RunOptions(dataset=folder.cases([row("a")]), target="echo", **more)  # pyright: ignore[reportArgumentType]


def _start(project: Project, options: RunOptions, caller: Caller) -> str:
    ports = project.run_ports()
    prepared = prepare(ports, options)
    return asyncio.run(start_run(ports, prepared, _ignore, _ignore, caller=caller)).run_id


def created(folder: Folder, project: Project, caller: Caller = ANN) -> str:
    made = create_run(project.run_ports(), _options(folder), caller=caller)
    return asyncio.run(made).run_id


def executed(folder: Folder, project: Project) -> str:
    queued = created(folder, project, BOB)
    asyncio.run(execute_run(project.run_ports(), queued, _ignore, caller=ANN))
    return queued


def started(folder: Folder, project: Project) -> str:
    return _start(project, _options(folder), ANN)


def evaluated(folder: Folder, project: Project) -> str:
    ports = project.run_ports()
    return asyncio.run(evaluate(ports, prepare(ports, _options(folder)), caller=ANN)).run_id


def resumed(folder: Folder, _project: Project) -> str:
    with pytest.raises(Stopped):
        folder.run(folder.ports(StoppingTarget(1), caller=BOB), folder.cases([row("a"), row("b")]))
    ports = folder.ports(ScriptedTarget())
    stopped = ports.repository.find("latest")
    asyncio.run(resume_run(ports, stopped, _ignore, caller=ANN))
    return stopped.run_id


def cancelled(folder: Folder, project: Project) -> str:
    queued = created(folder, project, BOB)
    ports = project.run_ports()
    for _ in range(2):
        asyncio.run(cancel_run(ports, ports.repository.find(queued), caller=ANN))
    last = run_events(project.store, queued)[-1]

    assert last.data == {"state": "cancelled", "actor": "ann", "request_id": "req_1"}
    return queued


def retried(folder: Folder, project: Project) -> str:
    ports = folder.ports(ScriptedTarget({"a": [fails("bad_request")]}), caller=BOB)
    run = folder.run(ports, folder.cases([row("a")]))
    again = folder.ports(ScriptedTarget())
    prepared = prepare(again, retry_options(project.run_folder(run.run_id)))
    return asyncio.run(start_run(again, prepared, _ignore, _ignore, caller=ANN)).run_id


def regraded(folder: Folder, project: Project) -> str:
    parent = _start(project, _options(folder), BOB)
    return _start(project, regrade_options(project.run_folder(parent), None), ANN)


def pruned(folder: Folder, project: Project) -> str:
    run_id = _start(project, _options(folder), BOB)
    shelf, later = project.retention_store(), project.clock.now() + timedelta(days=1000)
    prune(shelf, plan_pruning(shelf, RetentionSettings(), later), caller=ANN)
    shelf.close()
    return run_id


def published_rubric(folder: Folder, project: Project) -> str:
    folder.write("rubrics/first.yaml", RUBRIC.format(id="first", version="1.0.0"))
    ports = project.registry_ports()
    for _ in range(2):
        plan = plan_publication(project.registry_ports(), "rubric", "rubric/first@1.0.0")
        carry_out(ports, plan, caller=ANN)
    return "rubric/first@1.0.0"


def published_judge(folder: Folder, project: Project) -> str:
    folder.write("judges/tone.yaml", JUDGE.format(id="tone", version="1.0.0"))
    ports = project.registry_ports()
    carry_out(ports, plan_publication(ports, "judge", "judge/tone@1.0.0"), caller=ANN)
    return "judge/tone@1.0.0"


def published_dataset(folder: Folder, project: Project) -> str:
    path = folder.root / folder.cases([row("a")])
    for _ in range(2):
        publish_dataset(project.registry_ports(), str(path), "1", caller=ANN)
    return "dataset/d@1"


def labelled(folder: Folder, project: Project) -> str:
    run_id = _start(project, _options(folder), BOB)
    said = {"record_id": "a", "run_id": run_id, "rubric": "right", "annotator": "cy"}
    line = json.dumps({**said, "exposure": "blind", "passed": True}).encode()
    for _ in range(2):
        import_labels(
            project.review_ports(), LabelFile(io.BytesIO(line), "labels.jsonl"), caller=ANN
        )
    return "annotations"


def fixed(folder: Folder, project: Project) -> str:
    folder.write("rubrics/q.yaml", QUESTIONS.format(version="q-v1", status="published"))
    project.published_files().fix(["rubric/q-v1"], ANN)
    return "rubric/q-v1"


def validated(folder: Folder, _project: Project) -> str:
    responses = drawn(40, 0.6, seed=4)
    write_judged_desk(folder.root, responses)
    write_rows(folder.root / "labels.jsonl", map(label, responses))
    desk = open_project(folder.root)
    options = RunOptions(dataset=Path("desk.yaml"), target="desk", rubric="rubric/quality@1.0.0")
    request = ValidationRequest(
        judge=REF,
        labels=folder.root / "labels.jsonl",
        runs=(_start(desk, options, BOB),),
        design="random",
        split="all",
        has_canaries=False,
    )
    ports = desk.validation_ports()
    asyncio.run(
        validate_judge(ports, plan_validation(ports, request), _ignore, _ignore, caller=ANN)
    )
    desk.close()
    return REF


def saved_suite(_folder: Folder, project: Project) -> str:
    save_suite(project.setting_ports(), "nightly", {"dataset": "d.jsonl"}, caller=ANN)
    return "nightly"


def deleted_target(_folder: Folder, project: Project) -> str:
    ports = project.setting_ports()
    save_target(ports, "m", {"provider": "recorded", "path": "r.jsonl"}, caller=BOB)
    delete_target(ports, "m", caller=ANN)
    return "m"


@pytest.mark.parametrize(
    ("verb", "change"),
    [
        (created, "create_run"),
        (executed, "execute_run"),
        (started, "create_run"),
        (evaluated, "create_run"),
        (resumed, "resume_run"),
        (cancelled, "cancel_run"),
        (retried, "retry_run"),
        (regraded, "regrade_run"),
        (pruned, "prune_run"),
        (published_rubric, "publish"),
        (published_judge, "publish"),
        (published_dataset, "publish"),
        (labelled, "import_labels"),
        (fixed, "fix_published"),
        (validated, "validate_judge"),
        (saved_suite, "save_suite"),
        (deleted_target, "delete_target"),
    ],
)
def test_a_verb_logs_its_change_once_under_its_caller(
    project: Folder, verb: Verb, change: str
) -> None:
    with open_project(project.root) as opened:
        subject = verb(project, opened)
        (entry,) = list_changes(opened.audit_log, AuditQuery(actor=ANN.actor)).entries

    assert (entry.verb, entry.subject, entry.caller) == (change, subject, ANN)


def test_a_caller_is_the_local_user_unless_one_is_given(
    project: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "cy")
    with open_project(project.root) as opened:
        for _ in range(2):
            asyncio.run(create_run(opened.run_ports(), _options(project)))
        first, second = list_changes(opened.audit_log).entries

    assert first.caller.actor == second.caller.actor == "cy"
    assert first.caller.request_id != second.caller.request_id


def test_pages_of_the_log_miss_no_change_and_repeat_none(project: Folder) -> None:
    with open_project(project.root) as opened:
        for caller in (ANN, BOB, ANN, ANN):
            created(project, opened, caller)
        log = opened.audit_log

        assert [one.sequence for one in _all(log, AuditQuery())] == [4, 3, 2, 1]
        assert [one.sequence for one in _all(log, AuditQuery(request_id="req_1"))] == [4, 3, 1]
        assert _all(log, AuditQuery(actor="")) == []


def _all(log: AuditStore, query: AuditQuery) -> list[AuditEntry]:
    page = list_changes(log, query, limit=1)
    listed = [*page.entries]
    while page.next_cursor:
        page = list_changes(log, query, cursor=page.next_cursor, limit=1)
        listed += page.entries
    return listed


@pytest.mark.parametrize("actor", ["", "\ud800", "a\nb", "a\0", "\u202eann", "a" * 1000, 5])
def test_a_caller_without_a_valid_name_is_refused(project: Folder, actor: str) -> None:
    with open_project(project.root) as opened, pytest.raises(InvalidError, match="actor must be"):
        save_suite(opened.setting_ports(), "s", {}, caller=Caller(actor, "req_1"))


def test_a_query_of_any_text_finds_nothing(project: Folder) -> None:
    with open_project(project.root) as opened:
        assert not list_changes(opened.audit_log, AuditQuery(actor="\ud800")).entries


def test_a_run_of_any_name_is_not_found(project: Folder) -> None:
    with open_project(project.root) as opened, pytest.raises(NotFoundError):
        records_of(opened.result_ports(), "x" * 1_000_000)


def test_records_are_sorted_by_known_fields_only(project: Folder) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    query = RecordQuery(sort=Sort("weight"))  # pyright: ignore[reportArgumentType]
    with open_project(project.root) as opened:
        found = records_of(opened.result_ports(), "latest")
        with pytest.raises(InvalidError, match="cannot sort by 'weight'"):
            list_predictions(found, query)


def test_pruning_is_logged_once(project: Folder) -> None:
    with open_project(project.root) as opened:
        run_id = _start(opened, _options(project), BOB)
        shelf, later = opened.retention_store(), opened.clock.now() + timedelta(days=1000)
        planned = plan_pruning(shelf, RetentionSettings(), later)
        for _ in range(2):
            prune(shelf, planned, caller=ANN)
        shelf.close()
        logged = list_changes(opened.audit_log, AuditQuery(verb="prune_run")).entries

    assert [one.subject for one in logged] == [run_id]
