"""Log in and out by forms: throttled, with a new session, and back to own pages only."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers.accounts import PASSWORD, key_of
from servers.openid import SECRET, openid_issuer
from servers.site import Site, site_of, words_of
from steelyard.api.cookies import COOKIE
from steelyard.project import Project, open_project
from steelyard.results.audit import AuditQuery
from steelyard.usecases.access.sessions import ACCOUNT_FAILURES
from steelyard.usecases.access.users import add_user

if TYPE_CHECKING:
    import httpx


@pytest.fixture
def project(tmp_path: Path) -> Generator[Project]:
    with open_project(tmp_path) as made:
        for name in ("viewer", "editor", "annotator"):
            add_user(made.access_ports(), name, name, PASSWORD)
        yield made


@pytest.fixture
def site(project: Project) -> Generator[Site]:
    with site_of(project, has_login=True) as made:
        yield made


def session_of(answer: httpx.Response) -> str:
    found = re.match(rf"{COOKIE}=([^;]*)", answer.headers["set-cookie"])
    assert found
    return found[1]


def test_whoever_is_not_logged_in_is_sent_to_log_in_and_back(site: Site) -> None:
    first = site.open("/runs?q=a%20b&status=running")
    assert first.status_code == 303
    assert first.headers["location"] == "/login?next=/runs%3Fq%3Da%2520b%26status%3Drunning"
    form = site.open(first.headers["location"]).text
    kept = re.search(r'name="next" value="([^"]*)"', form)
    assert kept
    answer = site.log_in("viewer", next=kept[1].replace("&amp;", "&"))

    assert answer.status_code == 303
    assert answer.headers["location"] == "/runs?q=a%20b&status=running"
    assert site.open("/runs").status_code == 200
    cookie = answer.headers["set-cookie"]
    for attribute in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"):
        assert attribute in cookie


def test_a_login_leads_to_no_other_site(site: Site) -> None:
    for path in ("//evil.example", "/\\evil.example", "https://evil.example", "/%2Fevil.example"):
        assert "evil" not in site.open("/login", params={"next": path}).text
        assert site.log_in("viewer", next=path).headers["location"] == "/"


def test_a_wrong_password_says_so_and_keeps_the_name(site: Site) -> None:
    answer = site.send("/login", name="viewer", password="wrong password", next="/runs")

    assert answer.status_code == 401
    assert "The name or the password is wrong." in answer.text
    assert 'value="viewer"' in answer.text
    assert 'value="/runs"' in answer.text
    assert "wrong password" not in answer.text
    assert "set-cookie" not in answer.headers


def test_logins_are_throttled_like_those_of_the_api(site: Site) -> None:
    for _ in range(ACCOUNT_FAILURES):
        site.client.post("/v1/login", json={"name": "viewer", "password": "wrong password"})
    answer = site.log_in("viewer")

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert "Too many failed logins" in answer.text


def test_a_login_begins_a_new_session_and_ends_the_old_one(site: Site) -> None:
    first = session_of(site.log_in("viewer"))
    second = session_of(site.log_in("viewer"))

    assert first != second
    old = site.client.get("/runs", headers={"cookie": f"{COOKIE}={first}"})
    assert old.status_code == 303


def test_logout_is_a_form_that_ends_the_session(site: Site, project: Project) -> None:
    site.log_in("editor")
    shown = site.text("/logout")
    bare = site.client.post("/logout", headers=site._cookie)  # pyright: ignore[reportPrivateUsage]
    assert (bare.status_code, site.open("/runs").status_code) == (403, 200)
    answer = site.send("/logout")

    assert "You are logged in with the role editor" in shown
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert site.open("/runs").status_code == 303
    entry = project.audit_log.list(1, AuditQuery(verb="log_out"))[0]
    assert entry.caller.actor == "editor"


def test_everybody_can_change_their_own_password(site: Site, project: Project) -> None:
    site.log_in("annotator")
    wrong = site.send("/settings/password", current="no", password="x" * 12, again="x" * 12)
    unlike = site.send("/settings/password", current=PASSWORD, password="x" * 12, again="y" * 12)
    short = site.send("/settings/password", current=PASSWORD, password="x", again="x")
    changed = site.send("/settings/password", current=PASSWORD, password="x" * 12, again="x" * 12)

    assert [one.status_code for one in (wrong, unlike, short, changed)] == [400, 400, 400, 303]
    assert "The name or the password is wrong" in wrong.text
    assert "was not typed the same twice" in words_of(unlike.text)
    assert "a password has 8" in short.text.lower()
    assert changed.headers["location"].startswith("/login?changed=true")
    assert "Your password is changed" in site.text(changed.headers["location"])
    assert site.open("/").status_code == 303
    assert site.log_in("annotator").status_code == 401
    assert project.audit_log.list(9, AuditQuery(verb="set_password"))


def test_without_login_the_pages_say_that_there_is_none(project: Project) -> None:
    with site_of(project) as site:
        assert "This server has no login" in site.text("/login")
        assert "There is no session to end" in site.text("/logout")
        assert "this server has no login" in site.text("/settings/password")
        assert site.send("/login", name="viewer", password=PASSWORD).status_code == 400


def test_a_program_with_a_key_has_no_password(site: Site, project: Project) -> None:
    key = key_of(project, "admin")
    form = {"current": PASSWORD, "password": "x" * 12, "again": "x" * 12}
    answer = site.client.post("/settings/password", data=form, headers=key)

    assert answer.status_code == 400
    assert "There is no session to end" in site.client.get("/logout", headers=key).text


def test_the_issuer_of_the_project_file_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OIDC_TEST_SECRET", SECRET)
    with openid_issuer() as issuer:
        settings = (
            f"oidc: {{issuer: '{issuer.url}', client_id: steelyard, role_claim: g, "
            "client_secret_env: OIDC_TEST_SECRET, roles: {a: admin}}"
        )
        (tmp_path / "steelyard.yaml").write_text(settings, encoding="utf-8")
        with open_project(tmp_path) as project, site_of(project, has_login=True) as site:
            page = site.open("/login").text
            answer = site.open("/v1/oidc/login")

    assert 'href="/v1/oidc/login"' in page
    assert answer.headers["location"].startswith(f"{issuer.url}/authorize")
    assert "or" in words_of(page)


def test_no_issuer_is_offered_where_none_is_named(site: Site) -> None:
    assert "oidc" not in site.open("/login").text
