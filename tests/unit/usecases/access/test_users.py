"""Users: who may log in."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from steelyard.errors import ConflictError, InvalidError, NotFoundError, UnauthorizedError
from steelyard.model.audit import Caller
from steelyard.project import Project, open_project
from steelyard.usecases.access.sessions import Credentials, authenticate_session, log_in
from steelyard.usecases.access.users import (
    add_user,
    change_user,
    has_admin,
    list_users,
    remove_user,
    set_password,
    set_role,
)

pytestmark = pytest.mark.usefixtures("both_stores")

PASSWORD = "correct horse"


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    """A project without users."""
    with open_project(tmp_path) as made:
        yield made


def test_a_user_is_kept_with_a_hash_and_logged_without_it(project: Project) -> None:
    ports = project.access_ports()
    add_user(ports, "ada", "admin", PASSWORD, caller=Caller("root", "req-1"))

    hashed = ports.users.password_hash("ada") or ""
    (entry,) = project.audit_log.list(10)
    assert hashed.startswith("$argon2id$")
    assert (entry.verb, entry.subject, entry.caller) == (
        "add_user",
        "ada",
        Caller("root", "req-1"),
    )
    assert entry.detail == {"role": "admin"}


def test_a_name_is_taken_once(project: Project) -> None:
    ports = project.access_ports()
    add_user(ports, "ada", "admin", PASSWORD)

    with pytest.raises(ConflictError, match="'ada' already"):
        add_user(ports, "ada", "viewer", PASSWORD)
    assert [user.role for user in list_users(ports)] == ["admin"]


@pytest.mark.parametrize("name", ["Ada", "ADA", "\uff41da"])
def test_another_spelling_of_a_user_is_no_further_user(project: Project, name: str) -> None:
    ports = project.access_ports()
    add_user(ports, "ada", "admin", PASSWORD)

    with pytest.raises(ConflictError, match="another spelling of the user 'ada'"):
        add_user(ports, name, "viewer", PASSWORD)


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "key:x", "a\0", "-a", "x" * 101, "\ud800", "a/b"]
)
def test_a_name_is_made_of_letters_and_digits(project: Project, name: str) -> None:
    with pytest.raises(InvalidError, match="not a valid user name"):
        add_user(project.access_ports(), name, "viewer", PASSWORD)


@pytest.mark.parametrize("password", ["", "1234567", "x" * 1025, "\ud800234567890"])
def test_a_password_has_a_least_and_a_greatest_length(project: Project, password: str) -> None:
    with pytest.raises(InvalidError, match="a password"):
        add_user(project.access_ports(), "ada", "viewer", password)


def test_an_unknown_role_is_told_with_the_known_ones(project: Project) -> None:
    with pytest.raises(InvalidError, match="viewer, annotator, editor, admin"):
        add_user(project.access_ports(), "ada", "owner", PASSWORD)


def test_the_only_admin_stays(project: Project) -> None:
    ports = project.access_ports()
    add_user(ports, "ada", "admin", PASSWORD)

    for change in (lambda: remove_user(ports, "ada"), lambda: set_role(ports, "ada", "viewer")):
        with pytest.raises(ConflictError, match="the only admin"):
            change()
    assert has_admin(ports)

    add_user(ports, "bob", "admin", PASSWORD)
    remove_user(ports, "ada")
    assert [user.name for user in list_users(ports)] == ["bob"]


def test_what_is_unknown_cannot_be_changed(project: Project) -> None:
    ports = project.access_ports()

    for change in (
        lambda: remove_user(ports, "nobody"),
        lambda: set_role(ports, "nobody", "viewer"),
        lambda: set_password(ports, "nobody", PASSWORD),
    ):
        with pytest.raises(NotFoundError, match="no user 'nobody'"):
            change()
    assert project.audit_log.list(10) == []


@pytest.mark.parametrize("change", ["role", "password", "removal"])
def test_a_change_ends_the_sessions_of_the_user_alone(project: Project, change: str) -> None:
    ports = project.access_ports()
    for name in ("ada", "bob"):
        add_user(ports, name, "editor", PASSWORD)
    ada, bob = (
        log_in(ports, Credentials(name, PASSWORD, "10.0.0.1")).session_id
        for name in ("ada", "bob")
    )

    if change == "removal":
        remove_user(ports, "ada")
    elif change == "role":
        change_user(ports, "ada", role="viewer")
    else:
        change_user(ports, "ada", password="another one")

    with pytest.raises(UnauthorizedError):
        authenticate_session(ports, ada)
    assert authenticate_session(ports, bob).actor == "bob"


def test_a_role_stays_where_the_password_beside_it_is_too_short(project: Project) -> None:
    ports = project.access_ports()
    add_user(ports, "ada", "editor", PASSWORD)

    with pytest.raises(InvalidError):
        change_user(ports, "ada", role="viewer", password="short")
    assert list_users(ports)[0].role == "editor"
