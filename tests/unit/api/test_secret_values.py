"""No value of a configured secret is stored, whatever a caller calls with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from servers.run_service import RunService, document, record, run_service, write_project

SECRET = "sk-canary-supersecret-123456"
TARGET = """\
targets:
  live: {provider: openai, base_url: "http://127.0.0.1:1/v1", model: m, api_key_env: CANARY_KEY}
"""
NAMED: list[tuple[str, str, Any]] = [
    ("POST", "/v1/keys", {"name": f"key {SECRET}", "role": "viewer"}),
    ("POST", "/v1/trace-sets", {"name": SECRET}),
    ("POST", "/v1/suites", {"name": SECRET, "target": "echo", "dataset": "dataset/saved@1"}),
    ("POST", "/v1/suites", {"name": "s", "target": SECRET, "dataset": "dataset/saved@1"}),
    ("POST", "/v1/targets", {"name": SECRET, "provider": "echo"}),
    ("POST", "/v1/users", {"name": SECRET, "role": "viewer", "password": SECRET}),
]


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunService]:
    monkeypatch.setenv("CANARY_KEY", SECRET)
    write_project(tmp_path)
    settings = tmp_path / "steelyard.yaml"
    settings.write_text(settings.read_text().replace("targets:\n", TARGET, 1))
    with run_service(tmp_path) as running:
        yield running


def holders(root: Path) -> set[str]:
    """The columns of the database that hold the secret."""
    with closing(sqlite3.connect(root / ".steelyard" / "steelyard.db")) as connection:
        connection.row_factory = sqlite3.Row
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            f"{name}.{column}"
            for (name,) in found.fetchall()
            for row in connection.execute(f'SELECT * FROM "{name}"')
            for column in row.keys()  # noqa: SIM118 - a row iterates over its values
            if SECRET
            in (
                row[column].decode("utf-8", "replace")
                if isinstance(row[column], bytes)
                else str(row[column])
            )
        }


def test_an_id_or_key_of_a_request_that_is_a_secret_is_not_stored(service: RunService) -> None:
    headers = {"x-request-id": f"my-{SECRET}", "idempotency-key": SECRET}
    posted = [service.post(document([record("a")]), headers=headers) for _ in range(2)]
    first, again = (answer.json() for answer in posted)
    run_id = first["run_id"]
    service.client.post(f"/v1/runs/{run_id}/cancel", headers=headers)
    service.when(run_id)
    kept = {"x-request-id": "mine"}

    assert first["run_id"] == again["run_id"]
    assert [SECRET in answer.text for answer in posted] == [False, False]
    assert service.client.get("/v1/me", headers=kept).json()["request_id"] == "mine"
    assert service.post(document([record("b")]), headers=headers).status_code == 409
    assert holders(service.root) == set()


@pytest.mark.parametrize(("method", "path", "body"), NAMED)
def test_a_name_that_holds_a_secret_is_not_stored(
    service: RunService, method: str, path: str, body: Any
) -> None:
    answer = service.client.request(method, path, json=body)

    assert answer.status_code < 500
    assert holders(service.root) == set()


def test_a_name_that_is_no_identifier_keeps_the_rest(service: RunService) -> None:
    user = {"name": "ann", "role": "viewer", "password": SECRET}
    assert service.client.post("/v1/users", json=user).status_code == 201
    made = service.client.post("/v1/keys", json={"name": f"key {SECRET}", "role": "viewer"})

    assert made.status_code == 201, made.text
    assert made.json()["name"] == "key [redacted]"


@pytest.mark.parametrize("setting", ["where", "model"])
def test_a_setting_of_a_run_that_holds_a_secret_is_refused(
    service: RunService, setting: str
) -> None:
    given = {"where": f"metadata.key = {SECRET}", "model": f"m {SECRET}"}[setting]
    answer = service.post(document([record("a")]), headers=None, **{setting: given})

    assert answer.status_code == 400
    assert "holds the value of a configured secret" in answer.json()["error"]["message"]
    assert holders(service.root) == set()


def test_a_body_that_is_no_json_is_refused_as_ever(service: RunService) -> None:
    answer = service.client.post(
        "/v1/keys", content=f'{{"name": "{SECRET}', headers={"content-type": "application/json"}
    )

    assert answer.status_code == 400
    assert "the body is not JSON" in answer.json()["error"]["message"]
