"""Errors as pages: with the navigation of whoever sees them, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from servers.accounts import add_users, logged_in
from servers.service import running
from steelyard.project import open_project

HTML = {"accept": "text/html"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        open_project(tmp_path_factory.mktemp("project")) as project,
        running(project) as url,
        httpx.Client(base_url=url, timeout=30, headers=HTML) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("path", "status"),
    [("/rubrics/none%401.0.0", 404), ("/rubrics?begin=x", 400), ("/nowhere", 404)],
)
def test_an_error_has_the_navigation_and_the_way_back(
    client: httpx.Client, path: str, status: int
) -> None:
    came = {"referer": f"{client.base_url}/datasets?q=a%26b"}
    page = client.get(path, headers=came)

    assert page.status_code == status
    assert 'href="/suites"' in page.text
    assert 'href="/datasets?q=a%26b">Back</a>' in page.text


def test_a_wrong_address_is_explained_in_plain_words(client: httpx.Client) -> None:
    page = client.get("/rubrics?begin=soon").text

    assert "the address is wrong: &#39;begin&#39; cannot be &#39;soon&#39;" in page


@pytest.mark.parametrize(
    "referer", ["https://elsewhere.example/x", "http://[", "", "javascript:alert(1)"]
)
def test_no_other_site_is_the_way_back(client: httpx.Client, referer: str) -> None:
    page = client.get("/nowhere", headers={"referer": referer}).text

    assert "there is no page at /nowhere" in page
    assert ">Back</a>" not in page
    assert 'href="/">Home</a>' in page


def test_with_login_only_who_is_known_sees_the_navigation(tmp_path: Path) -> None:
    with open_project(tmp_path) as project:
        add_users(project)
        with (
            running(project, has_login=True) as url,
            httpx.Client(base_url=url, headers=HTML) as client,
        ):
            cookie = logged_in(client, "viewer").cookie
            strange = client.get("/nowhere").text
            missing = client.get("/nowhere", headers=cookie).text
            refused = client.get("/settings", headers=cookie)

    assert "/runs" not in strange
    assert 'href="/runs"' in missing
    assert refused.status_code == 403
    assert 'href="/runs"' in refused.text
    assert 'href="/settings"' not in refused.text
