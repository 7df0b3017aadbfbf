"""Every page and form, asked by every role with every kind of credential."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from servers.accounts import Session, add_users, key_of, logged_in
from servers.nginx import ask_again, nginx_before
from servers.service import running
from steelyard.model.access import ROLE_SCOPES, ROLES, Role
from steelyard.project import Project, open_project
from steelyard.web.page import AnyPage
from steelyard.web.site import PAGES

PUBLIC = "https://evals.example.org"
OPEN, KNOWN = "open", "known"
EXPECTED: tuple[tuple[str, str, str], ...] = (
    ("GET|POST", r"/login", OPEN),
    ("GET|POST", r"/(logout|settings/password|docs)?", KNOWN),
    ("GET|POST", r"/settings(/.*)?", "admin"),
    ("GET|POST", r"/targets(/.*)?", "admin"),
    ("POST", r"/runs/{run_id}/records/{index}", "registry:write"),
    ("GET|POST", r"/runs/{run_id}/review", "registry:write"),
    ("GET", r"/(runs|compare|groups|goto|agreement)(/.*)?", "runs:read"),
    ("POST", r"/agreement/{queue}", "runs:write"),
    ("GET", r"/trace-sets(/{trace_set})?", "runs:read"),
    ("POST", r"/trace-sets/{trace_set}", "runs:write"),
    ("GET", r"/review", "review:read"),
    ("GET|POST", r"/review/(name|{queue}|{queue}/answers)", "review:write"),
    ("GET", r"/review/{queue}/progress", "runs:read"),
    ("GET|POST", r"/review/(new|{queue}/(progress|adjudicate))", "registry:write"),
    ("POST", r"/runs(/.*)?", "runs:write"),
    ("POST", r"/suites/{name}/run", "runs:write"),
    ("GET", r"/suites/new", "registry:write"),
    ("GET", r"/(datasets|rubrics|judges|suites)(/.*)?", "registry:read"),
    ("POST", r"/rubrics/import", "registry:read"),  # to check a text; to create one needs more
    ("POST", r"/(datasets|rubrics|judges|suites)(/.*)?", "registry:write"),
)
"""What each page needs, written down beside its declaration; the first match counts."""
REQUESTS = {
    f"{method} {page.path}": (method, page)
    for page in PAGES
    for method in (("GET", "POST") if page.submit else ("GET",))
}


def declared(method: str, page: AnyPage) -> str:
    """What a page declares."""
    scope = (page.submit_scope or page.scope) if method == "POST" else page.scope
    return scope or (KNOWN if page.requires_login else OPEN)


def expected(method: str, page: AnyPage) -> str:
    """What the table says of a page."""
    fitting = (
        scope
        for methods, pattern, scope in EXPECTED
        if method in methods.split("|") and re.fullmatch(pattern, page.path)
    )
    return next(fitting, "not in the table")


@pytest.mark.parametrize("name", REQUESTS)
def test_a_page_declares_the_scope_that_the_table_has(name: str) -> None:
    method, page = REQUESTS[name]

    assert declared(method, page) == expected(method, page)


class Asked(NamedTuple):
    """One way to ask."""

    credential: str
    headers: dict[str, str]
    form: dict[str, str]
    is_known: bool = True
    is_refused: bool = False
    """Refused whatever the role may do."""


class Walk:
    """A server with a user and a key for every role."""

    def __init__(self, project: Project, client: httpx.Client) -> None:
        self.client = client
        self._keys = {role: key_of(project, role) for role in ROLES}
        self._sessions: dict[Role, Session] = {}

    def ways(self, method: str, page: AnyPage, role: Role) -> Iterator[Asked]:
        """Every way to ask for a page, or to send its form."""
        yield Asked("none", {}, {}, is_known=False)
        yield Asked("wrong key", {"x-api-key": "steelyard_wrong"}, {}, is_known=False)
        yield Asked("ended session", {"cookie": "__Host-steelyard=x"}, {}, is_known=False)
        yield Asked("key", self._keys[role], {})
        session = self._session(role, is_new=page.path == "/logout")
        own, token = {"origin": session.origin}, {"form_token": session.form_token}
        is_form = method == "POST"
        yield Asked("session without token", session.cookie | own, {}, is_refused=is_form)
        wrong = {"form_token": "wrong"}
        yield Asked("session with a wrong token", session.cookie | own, wrong, is_refused=is_form)
        yield Asked("session without origin", session.cookie, token, is_refused=is_form)
        other = {"origin": "https://evil.example"}
        yield Asked("session of another site", session.cookie | other, token, is_refused=is_form)
        site = own | {"sec-fetch-site": "cross-site"}
        yield Asked("session across sites", session.cookie | site, token, is_refused=is_form)
        yield Asked("session", session.cookie | own, token)

    def _session(self, role: Role, *, is_new: bool) -> Session:
        if is_new:
            return logged_in(self.client, role, PUBLIC)
        if role not in self._sessions:
            self._sessions[role] = logged_in(self.client, role, PUBLIC)
        return self._sessions[role]

    def answer(self, method: str, page: AnyPage, asked: Asked) -> httpx.Response:
        """The answer to a request that names nothing that there is."""
        path = re.sub(r"{\w+(:\w+)?}", "nothing", page.path)
        data = None if method == "GET" else {"action": "check", **asked.form}
        return ask_again(self.client, method, path, headers=asked.headers, data=data)


def check(walk: Walk, method: str, page: AnyPage, role: Role) -> None:
    """Ask in every way, and fail where somebody is let in or kept out wrongly."""
    needed = expected(method, page)
    for asked in walk.ways(method, page, role):
        answer = walk.answer(method, page, asked)
        told = f"{method} {page.path} as {role} with {asked.credential}: {answer.status_code}"
        if asked.credential in {"session of another site", "session across sites"} and (
            asked.is_refused
        ):
            assert answer.status_code == 403, told
        elif needed == OPEN:
            assert answer.status_code != 403, told
        elif not asked.is_known:
            _check_stranger(asked, answer, told)
        elif asked.is_refused or (needed != KNOWN and needed not in ROLE_SCOPES[role]):
            assert answer.status_code == 403, told
        else:
            assert answer.status_code not in {401, 403}, told
            assert "/login?next" not in answer.headers.get("location", ""), told


def _check_stranger(asked: Asked, answer: httpx.Response, told: str) -> None:
    """People are sent to log in; programs are refused."""
    if asked.credential == "wrong key":
        assert answer.status_code == 401, told
    else:
        assert answer.status_code == 303, told
        assert answer.headers["location"].startswith("/login?next=/"), told


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Generator[Project]:
    """A project with one user a role."""
    with open_project(tmp_path_factory.mktemp("project")) as made:
        add_users(made)
        yield made


@pytest.fixture(scope="module")
def walk(project: Project) -> Generator[Walk]:
    """A server with login."""
    settings = {"has_login": True, "public_url": PUBLIC, "requests_per_minute": 10**6}
    with (
        running(project, **settings) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        yield Walk(project, client)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_page_is_open_to_those_who_may(walk: Walk, name: str) -> None:
    method, page = REQUESTS[name]
    for role in ROLES:
        check(walk, method, page, role)


@pytest.mark.trials
def test_the_same_holds_behind_a_proxy(project: Project, tmp_path: Path) -> None:
    settings = {
        "has_login": True,
        "public_url": PUBLIC,
        "requests_per_minute": 10**6,
        "trusted_proxies": ("127.0.0.1",),
    }
    name = {"host": "evals.example.org"}
    with (
        running(project, **settings) as url,
        nginx_before(url, tmp_path) as address,
        httpx.Client(base_url=address, headers=name, timeout=30) as client,
    ):
        behind = Walk(project, client)
        for method, page in REQUESTS.values():
            for role in ROLES:
                check(behind, method, page, role)


@pytest.mark.trials
def test_pages_without_login_are_closed_behind_a_proxy(project: Project, tmp_path: Path) -> None:
    with (
        running(project) as url,
        nginx_before(url, tmp_path) as address,
        httpx.Client(base_url=address, headers={"host": "localhost"}, timeout=30) as client,
    ):
        statuses = {client.get(page.path.replace("{", "x")).status_code for page in PAGES}

    assert statuses == {403}


def test_an_annotator_is_shown_no_run_on_the_home_page(walk: Walk) -> None:
    page = walk.client.get("/", headers=walk._keys["annotator"])  # pyright: ignore[reportPrivateUsage]

    assert page.status_code == 200
    assert "you answer the items of review queues" in page.text
    assert "What ran" not in page.text


def test_an_annotator_is_led_from_the_settings_to_the_own_password(walk: Walk) -> None:
    page = walk.client.get("/settings", headers=walk._keys["annotator"])  # pyright: ignore[reportPrivateUsage]

    assert page.status_code == 403
    assert 'href="/settings/password"' in page.text


def test_too_many_requests_are_refused_with_how_long_to_wait(project: Project) -> None:
    settings = {"has_login": True, "public_url": PUBLIC, "requests_per_minute": 3}
    with running(project, **settings) as url, httpx.Client(base_url=url) as client:
        answers = [client.get("/login") for _ in range(5)]

    assert [one.status_code for one in answers] == [200, 200, 200, 429, 429]
    assert 0 < int(answers[-1].headers["retry-after"]) <= 60
