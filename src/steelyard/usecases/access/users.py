"""Add, change, remove and list users."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.model.access import ROLES, Role, User
from steelyard.model.audit import Caller
from steelyard.model.names import is_user_name, other_spelling
from steelyard.model.sessions import UserChange
from steelyard.usecases.access.ports import AccessPorts

MIN_PASSWORD, MAX_PASSWORD = 8, 1024
"""The length of passwords, in characters."""


def add_user(
    ports: AccessPorts, name: str, role: str, password: str, *, caller: Caller | None = None
) -> User:
    """Add a user who logs in with a password."""
    name, known = _required_name(name), required_role(role)
    hashed = ports.passwords.hash(required_password(password))
    ports = ports.called_by(caller)
    spelled_so = other_spelling(name, (one.name for one in ports.users.all()))
    if spelled_so is not None:
        raise ConflictError(f"'{name}' is another spelling of the user '{spelled_so}'")
    user = User(name=name, role=known, created_at=ports.clock.stamp())
    if not ports.users.add(user, hashed, ports.entry("add_user", name, role=known)):
        raise ConflictError(f"there is a user '{name}' already")
    return user


def set_password(
    ports: AccessPorts, name: str, password: str, *, caller: Caller | None = None
) -> None:
    """Replace a user's password and end the user's sessions."""
    name = known_name(name)
    hashed = ports.passwords.hash(required_password(password))
    entry = ports.called_by(caller).entry("set_password", name)
    _require_changed(name, ports.users.set_password(name, hashed, entry))


def set_role(ports: AccessPorts, name: str, role: str, *, caller: Caller | None = None) -> None:
    """Replace a user's role and end the user's sessions."""
    name, known = known_name(name), required_role(role)
    entry = ports.called_by(caller).entry("set_role", name, role=known)
    _require_changed(name, ports.users.set_role(name, known, entry))


def change_user(
    ports: AccessPorts,
    name: str,
    *,
    role: str | None = None,
    password: str | None = None,
    caller: Caller | None = None,
) -> User:
    """Replace what is given: the role, the password, or both."""
    if role is None and password is None:
        raise InvalidError("give a role, a password, or both")
    if password is not None:
        required_password(password)
    if role is not None:
        set_role(ports, name, role, caller=caller)
    if password is not None:
        set_password(ports, name, password, caller=caller)
    return show_user(ports, name)


def remove_user(ports: AccessPorts, name: str, *, caller: Caller | None = None) -> None:
    """Remove a user and end the user's sessions."""
    name = known_name(name)
    entry = ports.called_by(caller).entry("remove_user", name)
    _require_changed(name, ports.users.remove(name, entry))


def list_users(ports: AccessPorts) -> Sequence[User]:
    """Every user, by name."""
    return ports.users.all()


def show_user(ports: AccessPorts, name: str) -> User:
    """One user."""
    user = ports.users.find(known_name(name))
    if user is None:
        raise _unknown(name)
    return user


def has_admin(ports: AccessPorts) -> bool:
    """Whether somebody may manage users and keys."""
    return any(user.role == "admin" for user in ports.users.all())


def required_role(role: str) -> Role:
    """A role by its name; another name is an error."""
    if role not in ROLES:
        raise InvalidError(f"there is no role '{role}'; the roles are {', '.join(ROLES)}")
    return role


def required_password(password: str) -> str:
    """A password that can be used, in the form in which it is hashed."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise InvalidError(f"a password has {MIN_PASSWORD} to {MAX_PASSWORD:,} characters")
    if any(0xD800 <= ord(sign) <= 0xDFFF for sign in password):
        raise InvalidError("a password must be valid Unicode text")
    return spelled(password)


def spelled(text: str) -> str:
    """A text in one spelling: keyboards write the same letter in different ways."""
    return normalize("NFC", text)


def known_name(name: str) -> str:
    """A name that a user may have, in the spelling in which it is stored."""
    if not is_user_name(spelled(name)):
        raise _unknown(name)
    return spelled(name)


def _required_name(name: str) -> str:
    if not is_user_name(spelled(name)):
        raise InvalidError(
            f"{name!a} is not a valid user name; use up to 100 letters, digits, "
            "'.', '_', '@', '+' and '-'"
        )
    return spelled(name)


def _require_changed(name: str, change: UserChange) -> None:
    if change == "missing":
        raise _unknown(name)
    if change == "last_admin":
        raise ConflictError(f"'{name}' is the only admin; add another one first")


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"there is no user '{name}'")
