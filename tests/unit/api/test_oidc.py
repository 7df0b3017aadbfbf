"""Login at an OpenID Connect issuer, against a real one."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import msgspec
import pytest
from sqlalchemy import delete

from servers.openid import CLIENT, SECRET, OpenIdServer, new_key, openid_issuer
from servers.service import served
from steelyard.api.log_lines import set_up_logging
from steelyard.errors import ConfigError
from steelyard.project import Project, open_project
from steelyard.store import tables
from steelyard.usecases.access.users import add_user

if TYPE_CHECKING:
    from steelyard.model.access import User

FILE = """\
oidc:
  issuer: {url}
  client_id: steelyard
  client_secret_env: OIDC_TEST_SECRET
  role_claim: realm.groups
  roles: {{eval-team: editor, eval-admins: admin}}
"""
WHOLE = "oidc: {issuer: 'https://a.example', client_id: x, role_claim: g, roles: {a: admin}}"
TEAM = {"realm": {"groups": ["others", "eval-team"]}, "preferred_username": "ada"}


class Shared(NamedTuple):
    """A server of a project that trusts an issuer."""

    issuer: OpenIdServer
    project: Project
    client: httpx.Client


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Shared]:
    """One for all tests: each begins with an issuer that knows nobody yet."""
    root = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch, openid_issuer() as issuer:
        patch.setenv("OIDC_TEST_SECRET", SECRET)
        (root / "steelyard.yaml").write_text(FILE.format(url=issuer.url), encoding="utf-8")
        with open_project(root) as project, served(project, has_login=True) as client:
            yield Shared(issuer, project, client)


@pytest.fixture
def issuer(shared: Shared) -> OpenIdServer:
    """An issuer that lets a member of the team in."""
    vars(shared.issuer).update(vars(OpenIdServer(url=shared.issuer.url, claims={**TEAM})))
    shared.project._made.pop("oidc", None)  # pyright: ignore[reportPrivateUsage]
    return shared.issuer


def test_the_secret_of_the_client_is_shown_nowhere(
    shared: Shared, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "root", logging.RootLogger(logging.WARNING))
    project, found = shared.project, shared.project.oidc_issuer()
    set_up_logging("json", "info", project.secrets())

    logging.root.warning("sent %s", SECRET)

    told = f"{found!r} {found} {vars(found)} {project!r} {project.settings!r} {project.settings}"
    assert SECRET not in told + capsys.readouterr().err
    assert SECRET not in msgspec.json.encode(msgspec.to_builtins(project.settings)).decode()
    assert SECRET in project.secrets()


def test_a_secret_in_the_project_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("oidc: {client_secret: hush-hush}", encoding="utf-8")

    with pytest.raises(ConfigError, match="client_secret") as refused:
        open_project(tmp_path)

    assert "hush" not in str(refused.value)


@pytest.fixture
def project(shared: Shared, issuer: OpenIdServer) -> Project:
    """A project that trusts the issuer, without users."""
    with shared.project.store.engine.begin() as connection:
        for table in (tables.users, tables.sessions, tables.audit_log):
            connection.execute(delete(table))
    return shared.project


@pytest.fixture
def client(shared: Shared, project: Project) -> httpx.Client:
    """A server with login."""
    return shared.client


def cookie_of(answer: httpx.Response, name: str) -> str:
    """The value that an answer gives a cookie."""
    given = [one.partition(";")[0] for one in answer.headers.get_list("set-cookie")]
    return next(one.partition("=")[2] for one in given if one.startswith(f"{name}="))


def begun(client: httpx.Client) -> tuple[str, dict[str, str]]:
    """Where a browser is sent, and the cookie it keeps."""
    answer = client.get("/v1/oidc/login")
    assert answer.status_code == 302, answer.text
    client.cookies.clear()
    return answer.headers["location"], {
        "cookie": f"__Host-steelyard-oidc={cookie_of(answer, '__Host-steelyard-oidc')}"
    }


def logged_in(client: httpx.Client) -> httpx.Response:
    """What a browser gets that goes to the issuer and comes back."""
    url, headers = begun(client)
    back = httpx.get(url).headers["location"]
    answer = client.get(back, headers=headers)
    client.cookies.clear()
    return answer


def me(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    """Whose session an answer began."""
    headers = {"cookie": f"__Host-steelyard={cookie_of(answer, '__Host-steelyard')}"}
    return client.get("/v1/me", headers=headers).json()


def users(project: Project) -> list[User]:
    """Everybody who may log in."""
    return [*project.access_ports().users.all()]


def test_a_browser_is_sent_with_pkce_state_and_nonce(
    client: httpx.Client, issuer: OpenIdServer
) -> None:
    (one, _), (other, _) = begun(client), begun(client)

    first, second = (parse_qs(urlsplit(url).query) for url in (one, other))
    assert one.startswith(f"{issuer.url}/authorize?tenant=1&")
    assert first["client_id"] == [CLIENT]
    assert first["code_challenge_method"] == ["S256"]
    assert first["redirect_uri"] == [f"{client.base_url}/v1/oidc/callback".replace("//v1", "/v1")]
    assert all(first[name] != second[name] for name in ("state", "nonce", "code_challenge"))


def test_a_user_of_the_issuer_has_the_role_of_the_claim(
    client: httpx.Client, project: Project, issuer: OpenIdServer
) -> None:
    answer = logged_in(client)

    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    assert (me(client, answer)["actor"], me(client, answer)["role"]) == ("ada", "editor")
    (user,) = users(project)
    assert (user.issuer, user.subject, user.has_password) == (issuer.url, "user-1", False)
    verbs = [entry.verb for entry in project.audit_log.list(10)]
    assert verbs == ["log_in", "add_user"]


def test_a_user_is_known_by_the_subject_and_not_by_the_name(
    client: httpx.Client, project: Project, issuer: OpenIdServer
) -> None:
    logged_in(client)
    issuer.claims |= {"preferred_username": "lovelace"}
    renamed = logged_in(client)
    issuer.claims |= {"preferred_username": "ada", "sub": "user-2", "email": "ada@example.org"}
    other = logged_in(client)

    assert me(client, renamed)["actor"] == "ada"
    assert me(client, other)["actor"] == "ada@example.org"
    assert len(users(project)) == 2


def test_a_name_with_a_password_is_not_taken_over(client: httpx.Client, project: Project) -> None:
    add_user(project.access_ports(), "ada", "admin", "correct horse")

    actor = me(client, logged_in(client))["actor"]

    assert actor.startswith("oidc-")
    assert [user.role for user in users(project)] == ["admin", "editor"]


@pytest.mark.parametrize("groups", [None, [], "others", ["others"], 1, {"eval-team": True}])
def test_who_has_no_role_has_no_access(
    client: httpx.Client, project: Project, issuer: OpenIdServer, groups: Any
) -> None:
    issuer.claims["realm"] = {"groups": groups}

    assert logged_in(client).status_code == 403
    assert users(project) == []


def test_a_role_follows_the_claim_and_ends_sessions(
    client: httpx.Client, project: Project, issuer: OpenIdServer
) -> None:
    first = logged_in(client)
    issuer.claims["realm"] = {"groups": ["eval-team", "eval-admins"]}
    second = logged_in(client)

    assert me(client, second)["role"] == "admin"
    assert me(client, first)["error"]["code"] == "unauthorized"


def test_who_loses_the_role_is_removed(
    client: httpx.Client, project: Project, issuer: OpenIdServer
) -> None:
    first = logged_in(client)
    issuer.claims["realm"] = None

    assert logged_in(client).status_code == 403
    assert me(client, first)["error"]["code"] == "unauthorized"
    assert users(project) == []


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": [CLIENT, "another"]},
        {"azp": "another"},
        {"iss": "https://another.example"},
        {"exp": int(time.time()) - 3600},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
    ],
)
def test_a_token_that_is_not_for_this_login_is_refused(
    client: httpx.Client, project: Project, issuer: OpenIdServer, claims: dict[str, Any]
) -> None:
    issuer.claims |= claims

    assert logged_in(client).status_code == 401
    assert users(project) == []


@pytest.mark.parametrize("algorithm", ["RS256", "HS256", "none"])
def test_a_token_that_the_issuer_has_not_signed_is_refused(
    client: httpx.Client, issuer: OpenIdServer, algorithm: str
) -> None:
    issuer.algorithm = algorithm
    issuer.signed_with = {"RS256": new_key(), "HS256": SECRET * 2, "none": ""}[algorithm]

    assert logged_in(client).status_code == 401


def test_a_new_key_of_the_issuer_is_found(
    client: httpx.Client, issuer: OpenIdServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged_in(client)
    issuer.key, issuer.key_id = new_key(), "second"
    assert logged_in(client).status_code == 401
    monkeypatch.setattr("steelyard.targets.openid_issuer._AGAIN_S", 0.0)

    assert logged_in(client).status_code == 302


@pytest.mark.parametrize(
    "query", ["", "code=x", "state=x&code=x", "error=access_denied&state=", "state=%ff&code=%00"]
)
def test_an_answer_to_no_login_of_this_browser_is_refused(
    client: httpx.Client, query: str
) -> None:
    _, headers = begun(client)

    assert client.get(f"/v1/oidc/callback?{query}").status_code == 400
    assert client.get(f"/v1/oidc/callback?{query}", headers=headers).status_code == 400


def test_an_answer_cannot_be_used_in_another_browser(client: httpx.Client) -> None:
    (url, _), (_, other) = begun(client), begun(client)
    back = httpx.get(url).headers["location"]

    assert client.get(back, headers=other).status_code == 400


def test_a_code_is_used_once(client: httpx.Client) -> None:
    url, headers = begun(client)
    back = httpx.get(url).headers["location"]

    assert client.get(back, headers=headers).status_code == 302
    assert client.get(back, headers=headers).status_code == 401


def test_a_user_who_does_not_want_to_is_told(client: httpx.Client) -> None:
    url, headers = begun(client)
    state = parse_qs(urlsplit(url).query)["state"][0]

    answer = client.get(f"/v1/oidc/callback?error=access_denied&state={state}", headers=headers)

    assert answer.status_code == 401
    assert "access_denied" in answer.json()["error"]["message"]


def test_an_answer_of_another_issuer_is_refused(client: httpx.Client) -> None:
    url, headers = begun(client)
    back = httpx.get(url).headers["location"].partition("&iss=")[0]

    assert client.get(f"{back}&iss=https://evil.example", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "described",
    [
        {"issuer": "https://another.example"},
        {"token_endpoint": "http://another.example/token"},
        {"authorization_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
    ],
)
def test_an_issuer_that_describes_another_one_is_unavailable(
    client: httpx.Client, issuer: OpenIdServer, described: dict[str, Any]
) -> None:
    issuer.described = described

    assert client.get("/v1/oidc/login").status_code == 503


def test_an_issuer_that_fails_is_unavailable(client: httpx.Client, issuer: OpenIdServer) -> None:
    issuer.token_status = 500

    assert logged_in(client).status_code == 503


def test_a_project_without_an_issuer_has_no_such_login(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, served(project, has_login=True) as client:
        assert client.get("/v1/oidc/login").status_code == 404


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("oidc: {issuer: 'https://a.example'}", "'client_id' is missing"),
        (WHOLE.replace("https", "http"), "must be an https address"),
        (WHOLE.replace("https://", "http://me:hidden@"), "an address without a user or password$"),
        (f"{WHOLE[:-1]}, client_secret_env: OIDC_NOT_SET}}", "OIDC_NOT_SET is not set"),
    ],
)
def test_a_section_that_says_too_little_is_an_error(
    tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "steelyard.yaml").write_text(line, encoding="utf-8")

    with open_project(tmp_path) as project, pytest.raises(ConfigError, match=message):
        project.oidc_issuer()
