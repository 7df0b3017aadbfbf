"""Keys of programs."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.clock import ManualClock
from steelyard.errors import InvalidError, NotFoundError, UnauthorizedError
from steelyard.model.access import ROLE_SCOPES, ROLES, SCOPES
from steelyard.project import open_project
from steelyard.usecases.access.keys import (
    KeyRequest,
    authenticate_key,
    create_key,
    list_keys,
    revoke_key,
)
from steelyard.usecases.access.ports import AccessPorts

DAY_S = 24 * 3600


@pytest.fixture
def clock() -> ManualClock:
    """Time that a test moves."""
    return ManualClock()


@pytest.fixture
def ports(tmp_path: Path, clock: ManualClock) -> Generator[AccessPorts]:
    """What keys need, in a real database."""
    with open_project(tmp_path) as project:
        yield replace(project.access_ports(), clock=clock)


def test_a_key_is_stored_nowhere(ports: AccessPorts, tmp_path: Path) -> None:
    secret = create_key(ports, KeyRequest("ci", "editor")).secret

    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert secret.startswith("steelyard_")
    assert len(secret) == len("steelyard_") + 43
    assert secret.removeprefix("steelyard_").encode() not in stored


@pytest.mark.parametrize("role", ROLES)
def test_a_key_without_scopes_may_do_what_its_role_may(ports: AccessPorts, role: str) -> None:
    made = create_key(ports, KeyRequest("ci", role))

    identity = authenticate_key(ports, made.secret)

    assert identity.scopes == ROLE_SCOPES[made.key.role]
    assert identity.actor == f"key:ci:{made.key.key_id}"


def test_scopes_take_away_from_a_role(ports: AccessPorts) -> None:
    made = create_key(ports, KeyRequest("ci", "editor", ["runs:write", "runs:read"]))

    assert authenticate_key(ports, made.secret).scopes == {"runs:read", "runs:write"}


def test_scopes_beyond_a_role_are_refused_and_nothing_is_created(ports: AccessPorts) -> None:
    request = KeyRequest("ci", "viewer", ["admin", "runs:read", "runs:write"])

    with pytest.raises(InvalidError) as refused:
        create_key(ports, request)

    assert str(refused.value) == (
        "the role viewer does not have runs:write, admin; its scopes are runs:read, registry:read"
    )
    assert list_keys(ports) == []


def test_a_stored_key_never_has_more_than_its_role(ports: AccessPorts) -> None:
    key = replace(create_key(ports, KeyRequest("ci", "viewer")).key, scopes=SCOPES)

    assert key.allowed == ROLE_SCOPES["viewer"]


def test_a_key_expires(ports: AccessPorts, clock: ManualClock) -> None:
    secret = create_key(ports, KeyRequest("ci", "viewer", expires_in_days=2)).secret
    clock.move(2 * DAY_S - 1)
    assert authenticate_key(ports, secret)

    clock.move(1)

    with pytest.raises(UnauthorizedError, match="unknown, expired or revoked"):
        authenticate_key(ports, secret)


def test_a_revoked_key_is_refused_and_its_revocation_logged_once(ports: AccessPorts) -> None:
    made = create_key(ports, KeyRequest("ci", "viewer"))

    for _ in range(2):
        revoke_key(ports, made.key.key_id)

    with pytest.raises(UnauthorizedError):
        authenticate_key(ports, made.secret)
    assert list_keys(ports)[0].revoked_at


def test_a_key_is_revoked_by_its_name_where_that_is_clear(ports: AccessPorts) -> None:
    first, second = (create_key(ports, KeyRequest("ci", "viewer")).key for _ in range(2))

    with pytest.raises(InvalidError, match=first.key_id):
        revoke_key(ports, "ci")
    revoke_key(ports, first.key_id)
    assert revoke_key(ports, "ci").key_id == second.key_id
    with pytest.raises(NotFoundError):
        revoke_key(ports, "ci")


def test_the_last_use_is_written_once_a_minute(ports: AccessPorts, clock: ManualClock) -> None:
    secret = create_key(ports, KeyRequest("ci", "viewer")).secret
    seen: list[str | None] = []
    for _ in range(4):
        authenticate_key(ports, secret)
        seen.append(list_keys(ports)[0].last_used_at)
        clock.move(35)

    assert [one and one[11:19] for one in seen] == ["12:00:00", "12:00:00", "12:01:10", "12:01:10"]


@pytest.mark.parametrize("secret", ["", "steelyard_", "x" * 10_000, "\ud800", "ключ"])
def test_an_unknown_key_is_refused(ports: AccessPorts, secret: str) -> None:
    with pytest.raises(UnauthorizedError):
        authenticate_key(ports, secret)


@pytest.mark.parametrize(
    "request_",
    [
        KeyRequest("", "viewer"),
        KeyRequest("a\nb", "viewer"),
        KeyRequest("ci", "owner"),
        KeyRequest("ci", "viewer", ["runs:all"]),
        KeyRequest("ci", "viewer", []),
        KeyRequest("ci", "viewer", expires_in_days=0),
        KeyRequest("ci", "viewer", expires_in_days=10**9),
    ],
)
def test_what_makes_no_sense_is_refused(ports: AccessPorts, request_: KeyRequest) -> None:
    with pytest.raises(InvalidError):
        create_key(ports, request_)
    assert list_keys(ports) == []
