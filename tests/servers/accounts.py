"""Keys, users and sessions of every role, for tests of a server with login."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.api.cookies import COOKIE
from steelyard.model.access import ROLES, Role
from steelyard.project import Project
from steelyard.usecases.access.keys import KeyRequest, create_key
from steelyard.usecases.access.users import add_user

if TYPE_CHECKING:
    import httpx

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Session:
    """What a browser holds after a login."""

    session_id: str
    form_token: str
    origin: str

    @property
    def cookie(self) -> dict[str, str]:
        """The headers of a request that only reads."""
        return {"cookie": f"{COOKIE}={self.session_id}"}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request, as an own page sends them."""
        return {**self.cookie, "origin": self.origin, "x-form-token": self.form_token}


def add_users(project: Project) -> None:
    """One user a role, called like it."""
    ports = project.access_ports()
    for role in ROLES:
        add_user(ports, role, role, PASSWORD)


def key_of(project: Project, role: Role, *scopes: str, name: str = "ci") -> dict[str, str]:
    """The headers of a program with a new key."""
    made = create_key(project.access_ports(), KeyRequest(name, role, scopes or None))
    return {"authorization": f"Bearer {made.secret}"}


def logged_in(client: httpx.Client, name: str, origin: str | None = None) -> Session:
    """A new session of a user."""
    answer = client.post("/v1/login", json={"name": name, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    session_id = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
    # A client would not send it over plain HTTP; each request names it by itself.
    client.cookies.clear()
    own = origin or str(client.base_url).rstrip("/")
    return Session(session_id, answer.json()["form_token"], own)
