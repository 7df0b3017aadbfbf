"""Sessions of people who have logged in."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.clock import ManualClock
from steelyard.errors import (
    ForbiddenError,
    InvalidError,
    TooManyRequestsError,
    UnauthorizedError,
)
from steelyard.model.audit import Caller
from steelyard.project import open_project
from steelyard.usecases.access.ports import AccessPorts
from steelyard.usecases.access.sessions import (
    Credentials,
    Login,
    authenticate_session,
    begin_session,
    change_own_password,
    log_in,
    log_out,
    require_form_token,
)
from steelyard.usecases.access.users import add_user, set_password

PASSWORD = "correct horse"
RIGHT = Credentials("ada", PASSWORD, "10.0.0.1")
WRONG = Credentials("ada", "another one", "10.0.0.1")
HOUR_S = 3600


class QuickPasswords:
    """No hash at all, where a test logs in often."""

    def hash(self, password: str) -> str:
        """The hash to keep."""
        return password

    def matches(self, password_hash: str | None, password: str) -> bool:
        """Whether a password is right."""
        return password_hash == password


@pytest.fixture
def clock() -> ManualClock:
    """Time that a test moves."""
    return ManualClock()


@pytest.fixture
def ports(tmp_path: Path, clock: ManualClock) -> Generator[AccessPorts]:
    """What sessions need, in a real database with one user."""
    with open_project(tmp_path) as project:
        made = replace(project.access_ports(), clock=clock, passwords=QuickPasswords())
        add_user(made, "ada", "editor", PASSWORD)
        yield made


def is_open(ports: AccessPorts, login: Login) -> bool:
    """Whether a session is accepted."""
    try:
        return authenticate_session(ports, login.session_id).actor == "ada"
    except UnauthorizedError:
        return False


def test_every_login_has_a_new_id_and_a_new_token(ports: AccessPorts) -> None:
    first, second = log_in(ports, RIGHT), log_in(ports, RIGHT)

    assert first.session_id != second.session_id
    assert first.form_token != second.form_token
    assert authenticate_session(ports, first.session_id).form_token == first.form_token


def test_a_session_ends_with_a_logout(ports: AccessPorts) -> None:
    login, other = log_in(ports, RIGHT), log_in(ports, RIGHT)

    log_out(ports, login.session_id, caller=Caller("ada", "req-2"))

    assert (is_open(ports, login), is_open(ports, other)) == (False, True)


def test_a_session_ends_after_twelve_idle_hours(ports: AccessPorts, clock: ManualClock) -> None:
    login = log_in(ports, RIGHT)
    clock.move(12 * HOUR_S)
    assert is_open(ports, login)

    clock.move(12 * HOUR_S + 1)

    assert not is_open(ports, login)


def test_a_session_that_is_used_ends_after_seven_days(
    ports: AccessPorts, clock: ManualClock
) -> None:
    login = log_in(ports, RIGHT)
    for _ in range(7 * 24):
        clock.move(HOUR_S)
        assert is_open(ports, login)

    clock.move(1)

    assert not is_open(ports, login)


def test_an_account_pauses_after_five_failures(ports: AccessPorts, clock: ManualClock) -> None:
    for _ in range(5):
        with pytest.raises(UnauthorizedError):
            log_in(ports, WRONG)
        clock.move(10)

    with pytest.raises(TooManyRequestsError) as refused:
        log_in(ports, RIGHT._replace(address="10.0.0.2"))
    assert refused.value.retry_after_s == 250

    clock.move(250)
    assert log_in(ports, RIGHT)


def test_an_address_pauses_after_twenty_failures(ports: AccessPorts) -> None:
    for number in range(20):
        with pytest.raises(UnauthorizedError):
            log_in(ports, Credentials(f"user{number}", PASSWORD, "10.0.0.1"))

    with pytest.raises(TooManyRequestsError):
        log_in(ports, RIGHT)
    assert log_in(ports, RIGHT._replace(address="10.0.0.2"))


def test_successful_logins_never_pause(ports: AccessPorts) -> None:
    assert len({log_in(ports, RIGHT).session_id for _ in range(30)}) == 30


def test_concurrent_guesses_are_counted_before_they_are_tried(ports: AccessPorts) -> None:
    def guess(_: int) -> type[Exception] | None:
        try:
            log_in(ports, WRONG)
        except (UnauthorizedError, TooManyRequestsError) as error:
            return type(error)
        return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(guess, range(24)))

    assert answers.count(UnauthorizedError) == 5
    assert answers.count(TooManyRequestsError) == 19


def test_a_password_in_the_field_of_the_name_is_stored_nowhere(
    ports: AccessPorts, tmp_path: Path
) -> None:
    with pytest.raises(UnauthorizedError):
        log_in(ports, Credentials("typed-into-the-wrong-field", "", "10.0.0.1"))

    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"typed-into-the-wrong-field" not in stored


def test_no_session_begins_with_a_password_that_was_changed_meanwhile(ports: AccessPorts) -> None:
    user = ports.users.find("ada")
    assert user
    set_password(ports, "ada", "another one")

    with pytest.raises(UnauthorizedError, match="just been changed"):
        begin_session(ports, user, PASSWORD)


def test_users_change_their_own_password_with_the_old_one(ports: AccessPorts) -> None:
    login = log_in(ports, RIGHT)

    with pytest.raises(UnauthorizedError):
        change_own_password(ports, WRONG, "a third one")
    with pytest.raises(InvalidError):
        change_own_password(ports, RIGHT, "short")
    change_own_password(ports, RIGHT, "another one")

    assert not is_open(ports, login)
    assert log_in(ports, WRONG)


@pytest.mark.parametrize("given", [None, "", "x", "\ud800"])
def test_a_wrong_form_token_is_refused(ports: AccessPorts, given: str | None) -> None:
    login = log_in(ports, RIGHT)
    identity = authenticate_session(ports, login.session_id)

    require_form_token(identity, login.form_token)
    with pytest.raises(ForbiddenError, match="x-form-token"):
        require_form_token(identity, given)
