"""Who is let in: keys, sessions, and the user of this machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from servers.accounts import PASSWORD, add_users, key_of, logged_in
from servers.service import served
from steelyard.project import Project, open_project
from steelyard.usecases.access.users import set_role

if TYPE_CHECKING:
    import httpx

USER = {"name": "new", "role": "viewer", "password": "long enough"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Generator[Project]:
    """A project with one user a role."""
    with open_project(tmp_path_factory.mktemp("project")) as made:
        add_users(made)
        yield made


@pytest.fixture(scope="module")
def guarded(project: Project) -> Generator[httpx.Client]:
    """A server with login."""
    with served(project, has_login=True, public_url="https://evals.example.org") as client:
        yield client


@pytest.fixture(scope="module")
def local(project: Project) -> Generator[httpx.Client]:
    """A server without login."""
    with served(project) as client:
        yield client


def code(answer: httpx.Response) -> tuple[int, str]:
    """The status and the code of an error, in its envelope."""
    body = answer.json()
    assert body["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, body["error"]["code"]


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_a_key_is_taken_from_either_header(
    guarded: httpx.Client, project: Project, header: str
) -> None:
    secret = key_of(project, "editor")["authorization"].removeprefix("Bearer ")
    value = f"bearer {secret}" if header == "authorization" else secret

    me = guarded.get("/v1/me", headers={header: value}).json()

    assert (me["role"], me["credential"]) == ("editor", "key")
    assert me["actor"].startswith("key:ci:key_")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer steelyard_wrong"},
        {"authorization": "Bearer"},
        {"authorization": "Basic YTpi"},
        {"x-api-key": ""},
        {"x-api-key": "\xff"},
        {"cookie": "__Host-steelyard=wrong"},
        {"cookie": "__Host-steelyard="},
    ],
)
def test_wrong_credentials_are_401(guarded: httpx.Client, headers: dict[str, str]) -> None:
    sent = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    answer = guarded.get("/v1/me", headers=sent)

    assert code(answer) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_two_different_keys_are_400_and_the_same_twice_is_fine(
    guarded: httpx.Client, project: Project
) -> None:
    headers = key_of(project, "viewer")
    secret = headers["authorization"].removeprefix("Bearer ")

    assert guarded.get("/v1/me", headers={**headers, "x-api-key": secret}).status_code == 200
    answer = guarded.get("/v1/me", headers={**headers, "x-api-key": "steelyard_other"})
    assert code(answer) == (400, "invalid_request")


def test_a_server_without_login_takes_the_user_of_this_machine_for_admin(
    local: httpx.Client,
) -> None:
    me = local.get("/v1/me").json()

    assert (me["role"], me["credential"], me["form_token"]) == ("admin", "local", None)


def test_a_wrong_key_is_401_without_login_too(local: httpx.Client, project: Project) -> None:
    assert code(local.get("/v1/me", headers={"x-api-key": "wrong"})) == (401, "unauthorized")
    assert local.get("/v1/me", headers=key_of(project, "viewer")).json()["role"] == "viewer"


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via"]
)
def test_a_server_without_login_refuses_what_a_proxy_forwards(
    local: httpx.Client, header: str
) -> None:
    assert code(local.get("/v1/me", headers={header: "x"})) == (403, "forbidden")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_site_changes_nothing_without_login(
    local: httpx.Client, origin: str
) -> None:
    answer = local.post("/v1/users", json=USER, headers={"origin": origin})

    assert code(answer) == (403, "forbidden")


def test_an_own_page_and_no_page_may_change_something_without_login(local: httpx.Client) -> None:
    own = {"origin": str(local.base_url).rstrip("/")}

    assert local.post("/v1/users", json=USER, headers=own).status_code == 201
    assert local.delete("/v1/users/new").status_code == 204


def test_a_missing_scope_is_403_with_what_is_missing(
    guarded: httpx.Client, project: Project
) -> None:
    answer = guarded.get("/v1/users", headers=key_of(project, "editor"))

    assert code(answer) == (403, "forbidden")
    assert answer.json()["error"]["details"] == {
        "required_scopes": ["admin"],
        "missing_scopes": ["admin"],
        "role": "editor",
    }


def test_a_login_sets_a_cookie_that_only_this_host_gets(guarded: httpx.Client) -> None:
    answer = guarded.post("/v1/login", json={"name": "viewer", "password": PASSWORD})
    guarded.cookies.clear()

    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name.startswith("__Host-steelyard=")
    assert {*attributes} == {
        *("Max-Age=604800", "Path=/", "Secure", "HttpOnly", "SameSite=Lax"),
    }
    assert answer.json()["role"] == "viewer"


def test_a_login_ends_the_session_before_it(guarded: httpx.Client) -> None:
    first = logged_in(guarded, "viewer")
    body = {"name": "viewer", "password": PASSWORD}
    assert guarded.post("/v1/login", json=body, headers=first.headers).status_code == 200
    guarded.cookies.clear()

    assert guarded.get("/v1/me", headers=first.cookie).status_code == 401


def test_a_login_of_another_sites_page_is_refused(guarded: httpx.Client) -> None:
    body = {"name": "viewer", "password": PASSWORD}
    answer = guarded.post("/v1/login", json=body, headers={"origin": "https://evil.example"})

    assert code(answer) == (403, "forbidden")
    assert "set-cookie" not in answer.headers


def test_a_server_without_login_begins_no_session(local: httpx.Client) -> None:
    answer = local.post("/v1/login", json={"name": "viewer", "password": PASSWORD})

    assert code(answer) == (400, "invalid_request")


def test_a_session_reads_with_the_cookie_alone(guarded: httpx.Client) -> None:
    session = logged_in(guarded, "editor")

    me = guarded.get("/v1/me", headers=session.cookie).json()

    assert (me["actor"], me["credential"]) == ("editor", "session")
    assert me["form_token"] == session.form_token


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": ""},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "https://evals.example.org.evil.example"},
        {"origin": "http://evals.example.org"},
        {"x-form-token": ""},
        {"x-form-token": "wrong"},
    ],
)
def test_a_change_with_a_cookie_needs_our_origin_and_the_form_token(
    guarded: httpx.Client, changed: dict[str, str]
) -> None:
    session = logged_in(guarded, "admin")

    answer = guarded.post("/v1/users", json=USER, headers={**session.headers, **changed})

    assert code(answer) == (403, "forbidden")


@pytest.mark.parametrize("origin", [None, "https://evals.example.org"])
def test_a_change_of_our_own_pages_is_made(guarded: httpx.Client, origin: str | None) -> None:
    session = logged_in(guarded, "admin", origin)

    assert guarded.post("/v1/users", json=USER, headers=session.headers).status_code == 201
    assert guarded.delete("/v1/users/new", headers=session.headers).status_code == 204


def test_a_logout_ends_the_session_and_takes_the_cookie_away(guarded: httpx.Client) -> None:
    session = logged_in(guarded, "viewer")

    answer = guarded.post("/v1/logout", headers=session.headers)

    assert (answer.status_code, answer.content) == (204, b"")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert guarded.get("/v1/me", headers=session.cookie).status_code == 401


def test_a_change_of_the_role_from_the_command_line_ends_a_session_at_once(
    guarded: httpx.Client, project: Project
) -> None:
    session = logged_in(guarded, "annotator")
    set_role(project.access_ports(), "annotator", "annotator")

    assert guarded.get("/v1/me", headers=session.cookie).status_code == 401


def test_an_idle_session_ends(guarded: httpx.Client, project: Project) -> None:
    session = logged_in(guarded, "viewer")
    with sqlite3.connect(project.folder / "steelyard.db") as connection:
        connection.execute("UPDATE sessions SET last_seen = last_seen - 43201")
    connection.close()

    assert guarded.get("/v1/me", headers=session.cookie).status_code == 401


def test_users_change_their_own_password(guarded: httpx.Client) -> None:
    session = logged_in(guarded, "annotator")
    wrong = {"current": "wrong", "password": PASSWORD}

    assert code(guarded.put("/v1/me/password", json=wrong, headers=session.headers))[0] == 401
    right = {"current": PASSWORD, "password": PASSWORD}
    assert guarded.put("/v1/me/password", json=right, headers=session.headers).status_code == 204
    assert guarded.get("/v1/me", headers=session.cookie).status_code == 401


def test_a_key_has_no_password_to_change(guarded: httpx.Client, project: Project) -> None:
    body = {"current": PASSWORD, "password": PASSWORD}
    answer = guarded.put("/v1/me/password", json=body, headers=key_of(project, "admin"))

    assert code(answer) == (400, "invalid_request")


def test_logins_pause_after_five_failures(tmp_path: Path) -> None:
    body: dict[str, Any] = {"name": "nobody", "password": "wrong"}
    with open_project(tmp_path) as opened, served(opened, has_login=True) as client:
        answers = [client.post("/v1/login", json=body) for _ in range(6)]

    assert [one.status_code for one in answers] == [401] * 5 + [429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 300


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"name": "a"}',
        b'{"name": 1, "password": "x"}',
        b'{"name": "a", "password": "x", "more": 1}',
        b'{"name": "\\ud800", "password": "\\ud800"}',
        b'{"name": "' + b"x" * 2000 + b'", "password": "x"}',
        b"[" * 100_000,
    ],
)
def test_a_malformed_login_is_refused(guarded: httpx.Client, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = guarded.post("/v1/login", content=body, headers=headers)

    assert code(answer) == (400, "invalid_request")
