"""Every operation, asked by every role with every kind of credential."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from servers.accounts import Session, add_users, key_of, logged_in
from servers.nginx import ask_again, nginx_before
from servers.service import running, served
from steelyard.api.application import operations
from steelyard.api.operation import Operation
from steelyard.model.access import ROLE_SCOPES, ROLES, Role
from steelyard.project import Project, open_project
from steelyard.usecases.access.keys import list_keys, revoke_key

PUBLIC = "https://evals.example.org"
OPEN = "open"
KNOWN = "known"
EXPECTED: tuple[tuple[str, str, str], ...] = (
    ("GET", r"/(healthz|readyz|openapi\.json)", OPEN),
    ("GET", r"/schemas/{}\.schema\.json", OPEN),
    ("GET", r"/metrics", "runs:read"),
    ("POST", r"/v1/login", OPEN),
    ("GET", r"/v1/oidc/(login|callback)", OPEN),
    ("GET|POST|PUT", r"/v1/(me|me/password|logout)", KNOWN),
    ("GET|POST|PUT|DELETE", r"/v1/(users|keys|audit)(/.*)?", "admin"),
    ("POST", r"/v1/prune", "admin"),
    ("GET", r"/v1/(runs|compare|groups)(/.*)?", "runs:read"),
    ("POST", r"/v1/runs(/{}/(cancel|resume|retry|regrade))?", "runs:write"),
    ("POST", r"/v1/(otlp/v1/traces|trace-sets)", "traces:write"),
    ("GET", r"/v1/trace-sets(/.*)?", "runs:read"),
    ("POST", r"/v1/trace-sets/{}/judge", "runs:write"),
    ("DELETE", r"/v1/trace-sets/{}", "admin"),
    ("GET", r"/v1/queues/{}/(progress|disagreements|labels(/export)?)", "runs:read"),
    ("POST", r"/v1/queues/{}/validate", "runs:write"),
    ("POST", r"/v1/labels", "registry:write"),
    ("GET", r"/v1/annotations/{}/disputed", "runs:read"),
    ("GET", r"/v1/agreement/{}", "runs:read"),
    ("GET", r"/v1/queues(/{}(/(items|answers))?)?", "review:read"),
    ("GET", r"/v1/annotations/{}/revealed", "review:read"),
    ("POST", r"/v1/queues/{}/claim", "review:write"),
    ("PUT", r"/v1/annotations/{}", "review:write"),
    ("POST", r"/v1/annotations/{}/(submit|skip|defer|undo|flag)", "review:write"),
    ("POST|PUT", r"/v1/queues(/{}(/ties)?)?", "registry:write"),
    ("POST", r"/v1/annotations/{}/(reassign|adjudicate)", "registry:write"),
    ("POST", r"/v1/judgements", "runs:write"),
    ("POST", r"/v1/validate", "registry:read"),
    ("GET", r"/v1/(datasets|rubrics|judges|suites)(/.*)?", "registry:read"),
    ("POST|PUT|DELETE", r"/v1/(datasets|rubrics|judges|suites)(/.*)?", "registry:write"),
    ("GET|POST|PUT|DELETE", r"/v1/targets(/.*)?", "admin"),
)
"""What each operation needs, written down beside its declaration; the first match counts."""
OPERATIONS = {f"{one.method} {one.path}": one for one in operations()}


def expected(operation: Operation[Any, Any]) -> str:
    """What the table says of an operation."""
    path = re.sub(r"{[^}]*}", "{}", operation.path)
    fitting = (
        scope
        for methods, pattern, scope in EXPECTED
        if operation.method in methods.split("|")
        and re.fullmatch(pattern.replace("{}", r"\{\}"), path)
    )
    return next(fitting, "not in the table")


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_declares_the_scope_that_the_table_has(name: str) -> None:
    operation = OPERATIONS[name]
    declared = operation.scope or (KNOWN if operation.requires_login else OPEN)

    assert declared == expected(operation)


class Asked(NamedTuple):
    """One way to ask, and whether it says who asks, with what they may do."""

    credential: str
    headers: dict[str, str]
    is_known: bool = False
    is_refused: bool = False
    """Refused whatever the role may do."""
    may: frozenset[str] = frozenset()


class Walk:
    """A server with a user and keys for every role."""

    def __init__(self, project: Project, client: httpx.Client) -> None:
        self.client = client
        self._project = project
        self._sessions: dict[Role, Session] = {}
        self._keys = {role: key_of(project, role) for role in ROLES}
        self._expired = {role: key_of(project, role, name="expired") for role in ROLES}
        self._revoked = {role: key_of(project, role, name="revoked") for role in ROLES}
        self._scoped: dict[tuple[Role, frozenset[str]], dict[str, str]] = {}
        for key in list_keys(project.access_ports()):
            if key.name == "revoked":
                revoke_key(project.access_ports(), key.key_id)
        with closing(sqlite3.connect(project.folder / "steelyard.db")) as connection, connection:
            connection.execute(
                "UPDATE api_keys SET expires_at = created_at WHERE name = 'expired'"
            )

    def ways(self, operation: Operation[Any, Any], role: Role) -> Iterator[Asked]:
        """Every way to ask."""
        scopes = ROLE_SCOPES[role]
        yield Asked("none", {})
        yield Asked("wrong key", {"x-api-key": "steelyard_wrong"})
        yield Asked("expired key", self._expired[role])
        yield Asked("revoked key", self._revoked[role])
        yield Asked("key", self._keys[role], is_known=True, may=frozenset(scopes))
        if operation.scope:
            others, only = frozenset(scopes - {operation.scope}), frozenset({operation.scope})
            yield Asked(
                "key for others", self._scoped_key(role, others), is_known=True, may=others
            )
            if only <= scopes:
                yield Asked("key for this", self._scoped_key(role, only), is_known=True, may=only)
        session = self._session(role, is_new=operation.path == "/v1/logout")
        yield Asked(
            "session without form token",
            session.cookie,
            is_known=True,
            is_refused=operation.method != "GET",
            may=frozenset(scopes),
        )
        yield Asked("session", session.headers, is_known=True, may=frozenset(scopes))

    def _scoped_key(self, role: Role, scopes: frozenset[str]) -> dict[str, str]:
        if (role, scopes) not in self._scoped:
            self._scoped[role, scopes] = key_of(self._project, role, *scopes)
        return self._scoped[role, scopes]

    def _session(self, role: Role, *, is_new: bool) -> Session:
        if is_new:
            return logged_in(self.client, role, PUBLIC)
        if role not in self._sessions:
            self._sessions[role] = logged_in(self.client, role, PUBLIC)
        return self._sessions[role]

    def status(self, operation: Operation[Any, Any], asked: Asked) -> httpx.Response:
        """The answer to a request that names nothing that there is."""
        path = re.sub(r"{\w+(:\w+)?}", "nothing", operation.path)
        body: dict[str, str] | None = None if operation.method == "GET" else {}
        return ask_again(self.client, operation.method, path, headers=asked.headers, json=body)


def check(walk: Walk, operation: Operation[Any, Any], role: Role) -> None:
    """Ask in every way, and fail where somebody is let in or kept out wrongly."""
    scope = expected(operation)
    for asked in walk.ways(operation, role):
        answer = walk.status(operation, asked)
        told = f"{operation.method} {operation.path} as {role} with {asked.credential}"
        if scope == OPEN:
            assert answer.status_code not in {401, 403}, told
        elif not asked.is_known:
            assert answer.status_code == 401, told
        elif asked.is_refused:
            assert answer.status_code == 403, told
        elif scope != KNOWN and scope not in asked.may:
            assert answer.status_code == 403, told
            if operation.error_form:
                assert f"it needs the scope '{scope}'" in answer.text
                continue
            assert answer.json()["error"]["details"] == {
                "required_scopes": [scope],
                "missing_scopes": [scope],
                "role": role,
            }
        elif operation.path != "/v1/me/password":
            assert answer.status_code not in {401, 403}, told


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Generator[Project]:
    """A project with one user a role."""
    with open_project(tmp_path_factory.mktemp("project")) as made:
        add_users(made)
        yield made


@pytest.fixture(scope="module")
def walk(project: Project) -> Generator[Walk]:
    """A server with login."""
    settings = {"has_login": True, "public_url": PUBLIC, "requests_per_minute": 10**6}
    with served(project, **settings) as client:
        yield Walk(project, client)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_open_to_those_who_may(walk: Walk, name: str) -> None:
    for role in ROLES:
        check(walk, OPERATIONS[name], role)


@pytest.mark.trials
def test_the_same_holds_behind_a_proxy(project: Project, tmp_path: Path) -> None:
    settings = {
        "has_login": True,
        "public_url": PUBLIC,
        "requests_per_minute": 10**6,
        "trusted_proxies": ("127.0.0.1",),
    }
    name = {"host": "evals.example.org"}
    with (
        running(project, **settings) as url,
        nginx_before(url, tmp_path) as address,
        httpx.Client(base_url=address, headers=name, timeout=30) as client,
    ):
        behind = Walk(project, client)
        for operation in OPERATIONS.values():
            for role in ROLES:
                check(behind, operation, role)


@pytest.mark.trials
def test_a_server_without_login_is_closed_behind_a_proxy(project: Project, tmp_path: Path) -> None:
    with (
        running(project) as url,
        nginx_before(url, tmp_path) as address,
        httpx.Client(base_url=address, headers={"host": "localhost"}, timeout=30) as client,
    ):
        statuses = {
            client.request(one.method, re.sub(r"{\w+}", "x", one.path)).status_code
            for one in OPERATIONS.values()
        }

    assert statuses == {403}
