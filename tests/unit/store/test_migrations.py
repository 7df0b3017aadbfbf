"""A store of an older version is brought up to date, with all it holds."""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import replace
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest

from fakes.audit import an_entry
from fakes.old_stores import take_back_to_8, take_back_to_10, take_back_to_13, take_back_to_15
from fakes.projects import Project, row
from fakes.review_queues import a_label
from fakes.review_source import ANN, QueueProject, queue_ports
from fakes.reviews import label, says
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import UnavailableError
from steelyard.model.labels.annotation import Wanted
from steelyard.project import open_project
from steelyard.store import migrations
from steelyard.store.backups.foreign_schema import require_known_columns, require_known_objects
from steelyard.store.database import open_database
from steelyard.store.owners import this_process
from steelyard.store.runs.repository import RunStore
from steelyard.store.tables import SCHEMA_VERSION
from steelyard.usecases.review.queues.annotating import (
    GivenAnswers,
    claim_item,
    submit_answers,
    undo_last,
)

FIRST = """
CREATE TABLE schema_version (version INTEGER NOT NULL, PRIMARY KEY (version));
INSERT INTO schema_version VALUES (1);
CREATE TABLE runs (
    run_id VARCHAR NOT NULL, group_id VARCHAR, created_at VARCHAR NOT NULL,
    status VARCHAR NOT NULL, dataset VARCHAR NOT NULL, target VARCHAR, owner VARCHAR,
    plan BLOB NOT NULL, redacted INTEGER NOT NULL, summary BLOB, PRIMARY KEY (run_id)
);
CREATE INDEX ix_runs_created_at ON runs (created_at);
CREATE TABLE run_states (
    run_id VARCHAR NOT NULL, step INTEGER NOT NULL, state VARCHAR NOT NULL, at VARCHAR NOT NULL,
    PRIMARY KEY (run_id, step), FOREIGN KEY(run_id) REFERENCES runs (run_id)
);
CREATE TABLE results (
    run_id VARCHAR NOT NULL, idx INTEGER NOT NULL, repeat INTEGER NOT NULL,
    status VARCHAR NOT NULL, prediction BLOB NOT NULL, validation BLOB NOT NULL, failure BLOB,
    facts BLOB NOT NULL, PRIMARY KEY (run_id, idx, repeat)
) WITHOUT ROWID;
CREATE TABLE check_results (
    run_id VARCHAR NOT NULL, idx INTEGER NOT NULL, repeat INTEGER NOT NULL, place INTEGER NOT NULL,
    check_id VARCHAR NOT NULL, row BLOB NOT NULL, PRIMARY KEY (run_id, idx, repeat, check_id)
) WITHOUT ROWID;
CREATE TABLE attempts (
    run_id VARCHAR NOT NULL, idx INTEGER NOT NULL, repeat INTEGER NOT NULL, call VARCHAR NOT NULL,
    attempt INTEGER NOT NULL, row BLOB NOT NULL, PRIMARY KEY (run_id, idx, repeat, call, attempt)
) WITHOUT ROWID;
INSERT INTO runs VALUES ('run_1', NULL, '2026-01-15', 'running', 'd', 't', 'me', '{}', 5, NULL);
INSERT INTO run_states VALUES ('run_1', 0, 'running', '2026-01-15');
INSERT INTO results VALUES ('run_1', 0, 0, 'evaluated', '{}', '{}', NULL, '{}');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store as the first version made it, with a run that was stopped."""
    made = tmp_path / "steelyard.db"
    connection = sqlite3.connect(made)
    connection.executescript(FIRST)
    connection.close()
    return made


def columns(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    found = {
        table: [row[1:] for row in connection.execute(f"PRAGMA table_info({table})")]
        for table in sorted(tables)
    }
    connection.close()
    return found


def test_a_store_of_the_first_version_becomes_one_of_this(path: Path, tmp_path: Path) -> None:
    open_database(path).dispose()
    open_database(tmp_path / "new.db").dispose()

    assert columns(path) == columns(tmp_path / "new.db")


def test_a_back_up_of_the_first_version_has_nothing_foreign(path: Path) -> None:
    require_known_objects(path)
    open_database(path).dispose()

    require_known_objects(path)
    require_known_columns(path)


def test_what_it_holds_can_be_gone_on_with(path: Path) -> None:
    store = RunStore(open_database(path))
    run = store.find("latest")

    assert (run.status, run.owner, run.fence, run.lease_left_s) == ("running", "me", 1, None)
    assert list(store.done("run_1")) == [(0, 0)]
    assert store.redactions("run_1") == {"secrets": 5}
    assert store.claim(run, "other", "now")
    store.move("run_1", "finalizing", "later")
    store.close()


def test_answers_that_were_kept_by_their_question_are_kept_by_their_place(path: Path) -> None:
    open_database(path).dispose()
    take_back_to_8(path)
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        DROP TABLE request_parts;
        DROP TABLE claims;
        DROP TABLE holds;
        DROP TABLE annotations;
        DROP TABLE answers;
        CREATE TABLE answers (
            run_id VARCHAR NOT NULL, key BLOB NOT NULL, idx INTEGER NOT NULL,
            repeat INTEGER NOT NULL, PRIMARY KEY (key, run_id)
        ) WITHOUT ROWID;
        INSERT INTO answers VALUES ('run_1', x'02', 0, 0), ('run_1', x'01', 1, 2);
        UPDATE schema_version SET version = 4;
        """
    )
    connection.close()
    store = RunStore(open_database(path))
    kept = list(store.answers("run_1"))
    answer = store.answer(b"\x02", "run_1", 0, 0)
    store.close()

    assert kept == [(b"\x02", "run_1", 0, 0), (b"\x01", "run_1", 1, 2)]
    assert answer is not None


def test_many_processes_bring_it_up_to_date_at_once(path: Path) -> None:
    wrong: list[BaseException] = []

    def open_it() -> None:
        try:
            open_database(path).dispose()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test tells
            wrong.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connection = sqlite3.connect(path)
    versions = connection.execute("SELECT version FROM schema_version").fetchall()
    connection.close()

    assert wrong == []
    assert versions == [(SCHEMA_VERSION,)]


def test_a_step_that_fails_leaves_the_store_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_operations: object) -> None:
        raise ZeroDivisionError

    before = columns(path)
    monkeypatch.setattr("steelyard.store.migrations.STEPS", {1: fail})
    with pytest.raises(ZeroDivisionError):
        open_database(path)

    assert columns(path) == before
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT version FROM schema_version").fetchall() == [(1,)]
    connection.close()


def listed(path: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    found = connection.execute(
        "SELECT idx, repeat, record_id, status, r.passed, score, label, tags, c.passed "
        "FROM results AS r LEFT JOIN check_results AS c USING (run_id, idx, repeat) ORDER BY 1, 2"
    ).fetchall()
    connection.close()
    return found


def scripted() -> ScriptedTarget:
    return ScriptedTarget({"b": ["no"], "c": [fails("bad_request")], "d": ["sam@example.org"]})


def test_results_of_the_last_release_can_be_listed(project: Project) -> None:
    rows = [row("a", tags=["x", "y z"]), row("b"), row("c", tags=["x"]), row("d", tags=["x"])]
    project.run(project.ports(scripted()), project.cases(rows), repeat=2)
    project.close()
    path = project.root / ".steelyard" / "steelyard.db"
    before = listed(path)
    take_back_to_8(path)
    open_database(path).dispose()

    assert listed(path) == before
    assert before[0] == (0, 0, "a", "evaluated", 1, 1.0, None, "\x1fx\x1fy z\x1f", 1)


def test_a_migration_that_is_cut_off_begins_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.run(project.ports(scripted()), project.cases([row("a"), row("b")]))
    project.close()
    path = project.root / ".steelyard" / "steelyard.db"
    before = listed(path)
    take_back_to_8(path)
    done = migrations.STEPS[8]

    def cut_off(operations: Any) -> None:
        done(operations)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(migrations.STEPS, 8, cut_off)
        with pytest.raises(KeyboardInterrupt):
            open_database(path)
    open_database(path).dispose()

    assert listed(path) == before


def test_a_run_that_the_last_release_was_stopped_in_goes_on(project: Project) -> None:
    dataset = project.cases([row("a"), row("b"), row("c")])
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(1)), dataset, max_concurrency=1)
    project.close()
    path = project.root / ".steelyard" / "steelyard.db"
    take_back_to_8(path)
    run = project.resume(project.ports(scripted()))

    assert run.status == "completed_with_failures"
    assert [row[2:5] for row in listed(path)] == [
        ("a", "evaluated", 1),
        ("b", "evaluated", 0),
        ("c", "evaluation_error", None),
    ]


def test_a_store_without_an_audit_log_gets_an_empty_one(project: Project) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()
    take_back_to_10(project.root / ".steelyard" / "steelyard.db")
    with open_project(project.root) as opened:
        log = opened.audit_log

        assert log.list(10) == []

        log.add(an_entry("now"))

        assert log.list(10) == [replace(an_entry("now"), sequence=1)]


def test_labels_of_the_last_release_are_not_withdrawn(project: Project, tmp_path: Path) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    label = a_label("ann", 0)
    with open_project(project.root) as opened:
        kept = opened.review_ports().annotations
        kept.keep([label], an_entry("now"), is_replacing=False)
    project.close()
    path = project.root / ".steelyard" / "steelyard.db"
    take_back_to_13(path)
    open_database(tmp_path / "new.db").dispose()
    with open_project(project.root) as opened:
        found = list(opened.review_ports().annotations.all(Wanted()))

        assert opened.queue_ports().queues.all() == []
    assert [(one.row, one.is_withdrawn) for one in found] == [(label, False)]
    assert columns(path) == columns(tmp_path / "new.db")


def test_each_queue_gets_its_labels_back(tmp_path: Path) -> None:
    made = QueueProject(tmp_path)
    first, second = made.queue(size=4), made.queue(size=2)
    for queue, value in ((first, 1), (first, 1), (second, 0), (second, 0)):
        submit_next(made, queue, value)
    made.bring([label(0, "cy", passed=True)])
    before = list(made.ports.annotations.all(Wanted()))
    made.close()
    path = tmp_path / "steelyard.db"
    take_back_to_15(path)
    open_database(path).dispose()
    open_database(tmp_path / "new.db").dispose()
    made.engine = open_database(path)
    made.queue_ports = queue_ports(made)
    item = made.items(first)[0]

    assert columns(path) == columns(tmp_path / "new.db")
    assert list(made.ports.annotations.all(Wanted())) == before

    undo_last(made.queue_ports, item.item_id, ANN)
    left = [one.row.get("queue_id") for one in made.ports.annotations.all(Wanted())]
    made.close()

    assert sorted(str(one) for one in left) == sorted(("None", first, second, second))


def submit_next(made: QueueProject, queue: str, value: int) -> None:
    """Answer the next item of a queue."""
    found = claim_item(made.queue_ports, queue, ANN)
    assert found is not None
    claim = found.claim
    given = GivenAnswers(claim.token, claim.draft.revision, says(correct=value))
    submit_answers(made.queue_ports, claim.item.item_id, given, ANN)


def test_a_store_is_not_migrated_while_an_earlier_version_writes_to_it(project: Project) -> None:
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()
    path = project.root / ".steelyard" / "steelyard.db"
    take_back_to_10(path)
    with sqlite3.connect(path) as connection:
        held = "UPDATE runs SET owner = ?, lease_until = 9e9"
        connection.execute(held, (this_process(),))

    with pytest.raises(UnavailableError, match="executed by an earlier version"):
        open_database(path)

    with sqlite3.connect(path) as connection:
        connection.execute(held, (f"{gethostname()}:1:1",))

    open_database(path).dispose()
