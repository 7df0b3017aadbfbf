"""Users, keys and the audit log over HTTP."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from servers.service import served
from steelyard.project import open_project

if TYPE_CHECKING:
    import httpx


@pytest.fixture
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    """A server without login, of a project without users."""
    with open_project(tmp_path_factory.mktemp("project")) as project, served(project) as made:
        yield made


def user(name: str, role: str = "viewer", password: str = "long enough") -> dict[str, str]:
    """A user to add."""
    return {"name": name, "role": role, "password": password}


def test_users_are_added_changed_and_removed(client: httpx.Client) -> None:
    made = client.post("/v1/users", json=user("ada"))
    changed = client.put("/v1/users/ada", json={"role": "editor"})
    shown = client.get("/v1/users/ada").json()
    removed = client.delete("/v1/users/ada")

    assert (made.status_code, changed.status_code, removed.status_code) == (201, 200, 204)
    assert "password" not in made.json()
    assert (shown["name"], shown["role"], shown["has_password"]) == ("ada", "editor", True)
    assert client.get("/v1/users/ada").status_code == 404


def test_users_are_listed_in_pages(client: httpx.Client) -> None:
    for name in ("cy", "ada", "bob"):
        client.post("/v1/users", json=user(name))

    first = client.get("/v1/users", params={"limit": 2}).json()
    rest = client.get("/v1/users", params={"limit": 2, "cursor": first["next_cursor"]}).json()

    assert [one["name"] for one in (*first["data"], *rest["data"])] == ["ada", "bob", "cy"]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("cursor", ["x", "é", "W10", "WyIiLCIiXQ", ""])
def test_an_invented_cursor_is_refused(client: httpx.Client, cursor: str) -> None:
    assert client.get("/v1/users", params={"cursor": cursor}).status_code == 400


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (409, user("ada", "admin")),
        (400, user("a b")),
        (400, user("bob", "owner")),
        (400, user("bob", password="short")),
        (400, {"name": "bob", "role": "viewer"}),
        (400, {**user("bob"), "issuer": "x"}),
        (400, user("\0")),
    ],
)
def test_a_user_who_cannot_be_added_is_an_error(
    client: httpx.Client, status: int, body: dict[str, str]
) -> None:
    client.post("/v1/users", json=user("ada", "admin"))

    assert client.post("/v1/users", json=body).status_code == status


def test_the_only_admin_cannot_be_removed(client: httpx.Client) -> None:
    client.post("/v1/users", json=user("ada", "admin"))

    assert client.delete("/v1/users/ada").status_code == 409
    assert client.put("/v1/users/ada", json={"role": "viewer"}).status_code == 409


@pytest.mark.parametrize("name", ["nobody", "%00", "%ff", "x" * 5000, "%F0%9F%92%A9", "a%20b"])
def test_an_unknown_user_is_not_found(client: httpx.Client, name: str) -> None:
    assert client.get(f"/v1/users/{name}").status_code == 404
    assert client.delete(f"/v1/users/{name}").status_code == 404
    assert client.put(f"/v1/users/{name}", json={"role": "viewer"}).status_code == 404


def test_a_change_of_nothing_is_an_error(client: httpx.Client) -> None:
    client.post("/v1/users", json=user("ada"))

    assert client.put("/v1/users/ada", json={}).status_code == 400


def test_a_key_is_shown_once(client: httpx.Client) -> None:
    body = {"name": "ci", "role": "editor", "scopes": ["runs:read"], "expires_in_days": 3}
    made = client.post("/v1/keys", json=body)
    key = made.json()["key"]

    me = client.get("/v1/me", headers={"x-api-key": key}).json()
    listed = client.get("/v1/keys")
    assert made.status_code == 201
    assert me["scopes"] == made.json()["scopes"] == ["runs:read"]
    assert key not in listed.text
    assert listed.json()["data"][0]["last_used_at"]


def test_a_revoked_key_is_refused(client: httpx.Client) -> None:
    made = client.post("/v1/keys", json={"name": "ci", "role": "viewer"}).json()

    assert client.delete(f"/v1/keys/{made['key_id']}").status_code == 204
    assert client.get("/v1/me", headers={"x-api-key": made["key"]}).status_code == 401
    assert client.get("/v1/keys").json()["data"][0]["revoked_at"]
    assert client.delete("/v1/keys/unknown").status_code == 404


@pytest.mark.parametrize(
    "changed",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"name": "x" * 201},
        {"role": "owner"},
        {"scopes": []},
        {"scopes": ["all"]},
        {"expires_in_days": 0},
        {"expires_in_days": 10**30},
        {"expires_in_days": 1.5},
    ],
)
def test_a_key_that_makes_no_sense_is_refused(
    client: httpx.Client, changed: dict[str, Any]
) -> None:
    body = {"name": "ci", "role": "viewer", **changed}

    assert client.post("/v1/keys", json=body).status_code == 400


def test_changes_are_logged_with_their_request_and_without_secrets(client: httpx.Client) -> None:
    headers = {"x-request-id": "req-7"}
    client.post("/v1/users", json=user("ada", password="canary-password"), headers=headers)
    key = client.post("/v1/keys", json={"name": "ci", "role": "viewer"}).json()["key"]

    answer = client.get("/v1/audit")
    only = client.get("/v1/audit", params={"request_id": "req-7"}).json()["data"]
    assert [one["verb"] for one in answer.json()["data"]] == ["create_key", "add_user"]
    assert [one["subject"] for one in only] == ["ada"]
    assert key not in answer.text
    assert "canary-password" not in answer.text


def test_the_audit_log_is_exported_whole(client: httpx.Client) -> None:
    for name in ("=cmd|'/c calc'", "plain"):
        client.post("/v1/keys", json={"name": name, "role": "viewer"})
    client.post("/v1/users", json=user("ada"))

    lines = client.get("/v1/audit/export", params={"format": "jsonl"})
    table = client.get("/v1/audit/export", params={"format": "csv"})

    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [row["verb"] for row in rows] == ["add_user", "create_key", "create_key"]
    assert rows[2]["detail"]["name"] == "=cmd|'/c calc'"
    assert [row["verb"] for row in csv.DictReader(io.StringIO(table.text))] == [
        row["verb"] for row in rows
    ]
    assert "attachment" in table.headers["content-disposition"]


def test_a_formula_in_the_audit_log_is_neutralised_in_csv(client: httpx.Client) -> None:
    client.post("/v1/users", json=user("ada"), headers={"x-request-id": "-1-1"})

    table = client.get("/v1/audit/export", params={"format": "csv"}).text

    assert [row["request_id"] for row in csv.DictReader(io.StringIO(table))] == ["'-1-1"]


@pytest.mark.parametrize("query", ["limit=1", "format=xml", "format="])
def test_an_export_query_that_makes_no_sense_is_refused(client: httpx.Client, query: str) -> None:
    assert client.get(f"/v1/audit/export?{query}").status_code == 400


@pytest.mark.parametrize("query", ["limit=101", "limit=x", "who=ada", "format=csv", "cursor=x"])
def test_an_audit_query_that_makes_no_sense_is_refused(client: httpx.Client, query: str) -> None:
    assert client.get(f"/v1/audit?{query}").status_code == 400
