"""A kept answer is a request like any other: let in, counted, limited, logged and traced."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes.projects import Project as Runs
from fakes.projects import row
from fakes.targets import ScriptedTarget
from servers.accounts import PASSWORD, add_users, key_of, logged_in
from servers.service import served
from steelyard.api.kept_identities import MAX_AGE_S, KeptIdentities
from steelyard.api.kept_replies import KeptReplies
from steelyard.api.log_lines import JsonLines
from steelyard.api.tracing import ServedRequest
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.project import Project, open_project
from steelyard.usecases.access.keys import revoke_key
from steelyard.usecases.access.ports import AccessPorts
from steelyard.usecases.access.sessions import log_out
from steelyard.usecases.access.users import remove_user, set_password, set_role
from steelyard.usecases.runs.prune import plan_pruning, prune

if TYPE_CHECKING:
    import httpx


class Spans:
    """A tracing that keeps what it is told."""

    def __init__(self) -> None:
        self.ended: list[ServedRequest] = []

    def begin(self, headers: Mapping[str, str]) -> Spans:
        """A request begins."""
        assert "host" in headers
        return self

    def end(self, request: ServedRequest) -> None:
        """It has been served."""
        self.ended.append(request)

    def close(self) -> None:
        """Nothing is left to send."""


class Lines(logging.Handler):
    """Keeps the lines of a log."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, object]] = []
        self.setFormatter(JsonLines(lambda text: text))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep its lines."""
        self.found += [json.loads(line) for line in self.format(record).splitlines()]


class LookingTarget(ScriptedTarget):
    """Looks at something before it answers."""

    def __init__(self, look: Callable[[], None]) -> None:
        super().__init__()
        self._look = look

    async def ask(self, request: Request) -> Trace:
        """Look, and answer."""
        self._look()
        return await super().ask(request)


@pytest.fixture
def runs(tmp_path: Path) -> Generator[Runs]:
    """A project with one finished run of two records."""
    made = Runs(tmp_path)
    made.run(made.ports(ScriptedTarget()), made.cases([row("a"), row("b")]))
    yield made
    made.close()


@pytest.fixture
def project(runs: Runs) -> Generator[Project]:
    """The same, to be served."""
    with open_project(runs.root) as opened:
        yield opened


@pytest.fixture
def log() -> Generator[Lines]:
    """The log of requests."""
    lines, logger = Lines(), logging.getLogger("steelyard.access")
    before = logger.level
    logger.addHandler(lines)
    logger.setLevel("INFO")
    yield lines
    logger.removeHandler(lines)
    logger.setLevel(before)


def frozen() -> dict[str, object]:
    """Parts of a server whose kept answers and identities grow no older."""
    return {"kept": KeptReplies(lambda: 0.0), "identities": KeptIdentities(lambda: 0.0)}


def address(project: Project, more: str = "") -> str:
    """The address of the only run."""
    (run,) = project.store.list(1)
    return f"/v1/runs/{run.run_id}{more}"


def change_unseen(project: Project) -> None:
    """Change a finished run as nothing in Steelyard does, so that only a new look shows it."""
    with closing(sqlite3.connect(project.folder / "steelyard.db")) as connection, connection:
        connection.execute("UPDATE runs SET dataset = 'other', target = 'other'")
        connection.execute("DELETE FROM results WHERE idx = 1")


def shown_headers(answer: httpx.Response) -> dict[str, str]:
    """The headers of an answer, but for the time."""
    return {name: value for name, value in answer.headers.items() if name != "date"}


@pytest.mark.parametrize("more", ["", "/records", "/records/0"])
def test_a_commit_of_another_run_does_not_make_an_answer_anew(
    runs: Runs, project: Project, more: str
) -> None:
    path, own = address(project, more), {"x-request-id": "own"}
    with served(project, frozen()) as client:
        before = client.get(path, headers=own)
        change_unseen(project)
        runs.run(runs.ports(ScriptedTarget()), Path("d.jsonl"))
        after = client.get(path, headers=own)

    assert before.json() == after.json()


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/runs?q=run_", "/v1/runs/latest"])
def test_a_new_run_is_in_a_list_and_the_latest_at_once(
    runs: Runs, project: Project, path: str
) -> None:
    with served(project, frozen()) as client:
        before = client.get(path)
        change_unseen(project)
        unchanged = client.get(path)
        made = runs.run(runs.ports(ScriptedTarget()), Path("d.jsonl"))
        after = client.get(path)

    assert unchanged.json() | {"request_id": ""} == before.json() | {"request_id": ""}
    assert made.run_id not in before.text
    assert made.run_id in after.text


@pytest.mark.parametrize("more", ["", "/0"])
def test_whoever_reads_the_latest_run_has_seen_the_results_of_each_in_turn(
    runs: Runs, project: Project, more: str
) -> None:
    path, key = f"/v1/runs/latest/records{more}", key_of(project, "viewer", name="reader")
    with served(project, has_login=True) as client:
        actor = client.get("/v1/me", headers=key).json()["actor"]
        client.get(path, headers=key)
        second = runs.run(runs.ports(ScriptedTarget()), Path("d.jsonl")).run_id
        unseen = project.queue_ports().seen.sources([actor])
        client.get(path, headers=key)
        seen = project.queue_ports().seen.sources([actor])

    assert second not in unseen
    assert second in seen


@pytest.mark.parametrize("more", ["/records", "/records/0"])
def test_pruning_of_a_finished_run_shows_at_once(project: Project, more: str) -> None:
    path, now = address(project, more), project.clock.now() + timedelta(days=60)
    with served(project, frozen()) as client:
        before = [client.get(path).status_code for _ in range(2)]
        with closing(project.retention_store()) as store:
            prune(store, plan_pruning(store, project.settings.retention, now))
        after = client.get(path)

    assert before == [200, 200]
    assert after.status_code == 410


def test_states_of_a_run_show_at_once(runs: Runs, project: Project) -> None:
    seen: list[str] = []
    with served(project, frozen()) as client:

        def look() -> None:
            seen.append(client.get("/v1/runs/latest").json()["run_id"])
            seen.extend(client.get(f"/v1/runs/{seen[0]}").json()["status"] for _ in range(2))

        run = runs.run(runs.ports(LookingTarget(look)), runs.cases([row("a")]))
        status = client.get(f"/v1/runs/{run.run_id}").json()["status"]

    assert seen == [run.run_id, "running", "running"]
    assert status == "completed"


def test_a_revoked_key_is_401_at_once_and_scopes_are_required(project: Project) -> None:
    path = address(project)
    reader, other = key_of(project, "viewer", name="reader"), key_of(project, "annotator")
    with served(project, frozen(), has_login=True) as client:
        callers: list[dict[str, str]] = [reader, reader, other, {}]
        before = [client.get(path, headers=headers).status_code for headers in callers]
        revoke_key(project.access_ports(), "reader")
        after = client.get(path, headers=reader)

    assert before == [200, 200, 403, 401]
    assert after.status_code == 401


ENDS: dict[str, Callable[[AccessPorts, str], object]] = {
    "another role": lambda ports, _: set_role(ports, "viewer", "editor"),
    "another password": lambda ports, _: set_password(ports, "viewer", PASSWORD),
    "removed": lambda ports, _: remove_user(ports, "viewer"),
    "logged out": log_out,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_an_ended_session_is_401_at_once(
    project: Project, end: Callable[[AccessPorts, str], object]
) -> None:
    add_users(project)
    with served(project, frozen(), has_login=True) as client:
        session = logged_in(client, "viewer")
        before = [client.get("/v1/me", headers=session.cookie).status_code for _ in range(2)]
        end(project.access_ports(), session.session_id)
        after = client.get("/v1/me", headers=session.cookie)

    assert before == [200, 200]
    assert after.status_code == 401


def test_a_key_is_looked_up_again_after_a_second(project: Project) -> None:
    path, key = address(project), key_of(project, "viewer")
    clock = [0.0]
    parts = {"identities": KeptIdentities(lambda: clock[0])}
    with served(project, parts, has_login=True) as client:
        found = [client.get(path, headers=key).status_code]
        with closing(sqlite3.connect(project.folder / "steelyard.db")) as connection, connection:
            connection.execute("UPDATE api_keys SET expires_at = created_at")
        for moment in (MAX_AGE_S - 0.01, MAX_AGE_S):
            clock[0] = moment
            found.append(client.get(path, headers=key).status_code)

    assert found == [200, 200, 401]


def test_kept_answers_count_against_the_limit(project: Project) -> None:
    path, key = address(project), key_of(project, "viewer")
    with served(project, frozen(), has_login=True, requests_per_minute=3) as client:
        answers = [client.get(path, headers=key) for _ in range(4)]

    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert [one.headers["x-ratelimit-remaining"] for one in answers] == ["2", "1", "0", "0"]


def test_a_kept_answer_differs_in_its_id_alone(project: Project) -> None:
    path = address(project)
    with served(project, frozen()) as client:
        first = client.get(path, headers={"x-request-id": "one"})
        second = client.get(path, headers={"x-request-id": "two"})
        head = client.head(path, headers={"x-request-id": "two"})

    assert (first.json()["request_id"], second.json()["request_id"]) == ("one", "two")
    assert first.text.replace('"one"', '"two"') == second.text
    assert shown_headers(first) | {"x-request-id": "two"} == shown_headers(second)
    assert shown_headers(head) == shown_headers(second)
    assert head.content == b""


def test_every_request_is_logged_counted_and_traced(project: Project, log: Lines) -> None:
    path, spans = address(project, "/records?limit=1"), Spans()
    with served(project, {**frozen(), "tracing": spans}) as client:
        for name in ("one", "two"):
            client.get(path, headers={"x-request-id": name})
        client.get(path, headers={"x-request-id": "three", "host": "evil.example"})
        metrics = client.get("/metrics").text
    route = "/v1/runs/{run_id}/records"

    fields = ("request_id", "message", "method", "path", "status")
    shown = ("request", "GET", path.partition("?")[0])
    assert [tuple(line[name] for name in fields) for line in log.found] == [
        ("one", *shown, 200),
        ("two", *shown, 200),
        ("three", *shown, 403),
    ]
    assert log.found[0]["actor"] == log.found[1]["actor"] is not None
    assert [(one.route, one.status) for one in spans.ended[:2]] == [(route, 200)] * 2
    counted = f'steelyard_http_requests_total{{method="GET",route="{route}",status="200"}} 2'
    assert counted in metrics
