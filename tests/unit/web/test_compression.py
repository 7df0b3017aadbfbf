"""Pages are sent compressed, and keep no secret that their length could tell."""

from __future__ import annotations

import re
from collections.abc import Generator

import httpx
import pytest
from starlette.datastructures import Headers

from servers.accounts import Session, add_users, logged_in
from servers.service import running
from steelyard.project import open_project
from steelyard.web.compression import takes_gzip


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Generator[Session]:
    """An editor who is logged in."""
    with open_project(tmp_path_factory.mktemp("project")) as project:
        add_users(project)
        with running(project, has_login=True) as url, httpx.Client(base_url=url) as client:
            yield logged_in(client, "editor")


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("GZIP", True),
        ("gzip; q=0", False),
        ("x-gzip-like", False),
        ("", False),
    ],
)
def test_a_client_says_what_it_takes(accepted: str, takes: bool) -> None:
    assert takes_gzip(Headers({"accept-encoding": accepted})) is takes


def test_a_page_is_sent_compressed_to_those_who_take_it(editor: Session) -> None:
    address = f"{editor.origin}/datasets"
    plain, small = (
        httpx.get(address, headers={**editor.cookie, "accept-encoding": accepted})
        for accepted in ("identity", "gzip")
    )

    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert plain.headers["vary"] == small.headers["vary"] == "accept-encoding"
    assert int(small.headers["content-length"]) < len(plain.content) / 2
    assert len(small.content) == len(plain.content)


def test_a_page_never_shows_the_form_token_as_it_is(editor: Session) -> None:
    address = f"{editor.origin}/datasets"
    pages = [httpx.get(address, headers=editor.cookie).text for _ in range(2)]
    shown = [set(re.findall(r'name="form_token" value="([^"]+)"', page)) for page in pages]

    assert all(editor.form_token not in page for page in pages)
    assert len(shown[0]) == len(shown[1]) == 1
    assert shown[0] != shown[1]


@pytest.mark.parametrize("is_header", [False, True])
def test_the_token_of_any_page_is_good(editor: Session, is_header: bool) -> None:
    page = httpx.get(f"{editor.origin}/datasets", headers=editor.cookie).text
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found
    headers = {**editor.cookie, "origin": editor.origin}
    form = {"action": "check", "text": "{}"}
    if is_header:
        headers["x-form-token"] = found[1]
    else:
        form["form_token"] = found[1]

    sent = httpx.post(f"{editor.origin}/datasets", headers=headers, data=form)

    assert sent.status_code == 200
