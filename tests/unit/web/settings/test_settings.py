"""Settings: users, keys and the audit log, by the same verbs as the API."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers.accounts import PASSWORD
from servers.site import Site, site_of, words_of
from steelyard.model.access import ROLES, SCOPES
from steelyard.project import Project, open_project
from steelyard.usecases.access.keys import KeyRequest, create_key, list_keys
from steelyard.usecases.access.users import add_user, list_users

if TYPE_CHECKING:
    import httpx


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    with open_project(tmp_path) as made:
        add_user(made.access_ports(), "admin", "admin", PASSWORD)
        yield made


@pytest.fixture
def site(project: Project) -> Generator[Site]:
    """Logged in as an admin."""
    with site_of(project, has_login=True) as made:
        made.log_in("admin")
        yield made


def roles(project: Project) -> dict[str, str]:
    return {user.name: user.role for user in list_users(project.access_ports())}


def last_change(project: Project) -> tuple[str, str, str]:
    entry = project.audit_log.list(1)[0]
    return entry.caller.actor, entry.verb, entry.subject


def test_users_roles_and_what_each_may_do_are_listed(site: Site) -> None:
    said = site.text("/settings")

    for word in (*ROLES, *SCOPES, "start, resume, cancel, retry and regrade runs"):
        assert word in said
    assert "no login" not in said


def test_a_user_is_added_changed_and_removed(site: Site, project: Project) -> None:
    added = site.send("/settings", name="ada", role="editor", password=PASSWORD)
    assert (added.status_code, added.headers["location"]) == (303, "/settings")
    assert last_change(project) == ("admin", "add_user", "ada")
    page = "/settings/users/ada"
    site.send(page, action="role", role="viewer")
    assert roles(project)["ada"] == "viewer"
    site.send(page, action="password", password="another password")
    assert last_change(project) == ("admin", "set_password", "ada")
    unsure = site.send(page, action="remove", confirm="bob")
    assert unsure.status_code == 400
    assert "Type the name, ada, to remove this user." in unsure.text
    gone = site.send(page, action="remove", confirm="ada")

    assert gone.headers["location"] == "/settings"
    assert "ada" not in roles(project)
    assert last_change(project) == ("admin", "remove_user", "ada")
    assert site.open(page).status_code == 404


WRONG: tuple[tuple[dict[str, str], int, str], ...] = (
    ({"name": "admin", "role": "viewer", "password": PASSWORD}, 409, "There is a user"),
    ({"name": "a b", "role": "viewer", "password": PASSWORD}, 400, "is not a valid user name"),
    ({"name": "ada", "role": "king", "password": PASSWORD}, 400, "There is no role"),
    ({"name": "ada", "role": "viewer", "password": "short"}, 400, "A password has 8"),
    ({}, 400, "is not a valid user name"),
)


def test_a_wrong_form_says_what_is_wrong_and_keeps_what_was_typed(site: Site) -> None:
    for fields, status, said in WRONG:
        answer = site.send("/settings", **fields)

        assert answer.status_code == status
        assert said in words_of(answer.text)
        assert PASSWORD not in answer.text
        if "name" in fields:
            assert f'value="{fields["name"]}"' in answer.text


def test_the_only_admin_stays(site: Site, project: Project) -> None:
    page = "/settings/users/admin"
    assert "This is your own account" in site.text(page)
    for fields in ({"action": "role", "role": "viewer"}, {"action": "remove", "confirm": "admin"}):
        answer = site.send(page, **fields)
        assert answer.status_code == 409
        assert "is the only admin" in answer.text
    assert site.send(page, action="else").status_code == 400
    assert roles(project)["admin"] == "admin"


def test_a_key_is_shown_once_and_can_be_revoked(site: Site, project: Project) -> None:
    form = {"name": "ci", "role": "editor", "days": "30", "scope runs:write": "on"}
    made = site.send("/settings/keys", **form)
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    secret = re.search(r'value="(steelyard_[\w-]+)"', made.text)
    assert secret
    assert 'data-copy="#secret"' in made.text
    assert secret[1] not in site.open("/settings/keys").text
    (key,) = list_keys(project.access_ports())
    assert (key.name, key.role, key.scopes) == ("ci", "editor", ("runs:write",))
    assert key.expires_at
    assert key.created_by == "admin"
    headers = {"authorization": f"Bearer {secret[1]}"}
    assert site.client.get("/v1/me", headers=headers).status_code == 200
    assert "never" not in words_of(site.open("/settings/keys").text).partition("Create a key")[0]
    answer = site.send("/settings/keys", revoke=key.key_id)

    assert (answer.status_code, answer.headers["location"]) == (303, "/settings/keys")
    assert site.client.get("/v1/me", headers=headers).status_code == 401
    assert "Revoked" in site.text("/settings/keys")
    assert last_change(project) == ("admin", "revoke_key", key.key_id)


def test_a_key_without_scopes_may_do_all_that_its_role_may(site: Site, project: Project) -> None:
    site.send("/settings/keys", name="all", role="viewer", days="")
    (key,) = list_keys(project.access_ports())

    assert (key.scopes, key.expires_at) == (None, None)


def test_a_key_expires_after_whole_days(site: Site, project: Project) -> None:
    for days in ("0", "-1", "many", "3651", "99999999999", "1.5"):
        answer = site.send("/settings/keys", name="ci", role="viewer", days=days)

        assert answer.status_code == 400
        assert "a key expires after 1 to 3,650 days" in answer.text.lower()
    assert list_keys(project.access_ports()) == []


def test_the_audit_log_is_filtered_paged_and_downloaded(site: Site, project: Project) -> None:
    for number in range(60):
        create_key(project.access_ports(), KeyRequest(f"k{number}", "viewer"))
    first = site.open("/settings/audit?verb=create_key").text
    older = re.search(r'href="([^"]*)" rel="next"', first)
    assert older
    second = site.open(older[1].replace("&amp;", "&")).text

    assert first.count("create key</a>") == 50
    assert second.count("create key</a>") == 10
    assert "log in" not in words_of(first)
    assert "No change matches" in site.text("/settings/audit?actor=nobody")
    links = re.findall(r'href="(/v1/audit/export[^"]*)"', first)
    csv, jsonl = (site.open(link.replace("&amp;", "&")) for link in links)
    assert len(csv.text.splitlines()) == 61
    assert len(jsonl.text.splitlines()) == 60


def test_without_login_the_page_says_how_to_turn_it_on(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, site_of(project) as site:
        said = site.text("/settings")
        site.send("/settings", name="ada", role="admin", password=PASSWORD)
        known = roles(project)

    assert "This server has no login" in said
    assert "steelyard serve --login" in said
    assert "There are no users yet" in said
    assert known == {"ada": "admin"}


def test_names_of_users_and_keys_are_shown_as_text(site: Site) -> None:
    name = "<b onclick=alert(1)>"
    site.send("/settings/keys", name=name, role="viewer")
    pages: list[httpx.Response] = [
        site.open("/settings/keys"),
        site.open("/settings/audit"),
        site.send("/settings", name=name, role="viewer", password=PASSWORD),
        site.open("/settings/audit", params={"actor": name}),
    ]

    for page in pages:
        assert "<b onclick" not in page.text
