"""Every page of the demo's site can be shown: each template with a real context."""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

from fakes.demo_project import shared_demo
from servers.site import Site, site_of
from steelyard.project import open_project
from steelyard.web.site import PAGES

ADDRESSES = {
    "/compare": "/compare?a={older}&b={run_id}",
    "/datasets/file": "/datasets/file?path=datasets/helpdesk.jsonl",
    "/datasets/{ref}": "/datasets/none%401",
    "/groups/{group_id}": "/groups/{group_id}",
    "/judges/{ref}": "/judges/helpful%401.0.0",
    "/rubrics/{ref}": "/rubrics/helpdesk%401.0.0",
    "/settings/users/{name}": "/settings/users/nobody",
}
"""What is asked for where an address has a name or needs a query."""
ABSENT = {
    "/datasets/{ref}",
    "/settings/users/{name}",
    "/review/{queue}/progress",
    "/review/{queue}/adjudicate",
    "/agreement/{queue}",
    "/trace-sets/{trace_set}",
}
"""The demo publishes no dataset, and has neither this user, queue nor trace set: the pages say
so."""

WITHOUT_FRAME = {"/login", "/runs/{run_id}/report.html"}
"""Pages without the frame: a form, and a file that opens without a server."""


@pytest.fixture(scope="module")
def demo() -> Generator[Site]:
    with open_project(shared_demo()) as project, site_of(project) as site:
        yield site


@pytest.mark.parametrize("path", [page.path for page in PAGES])
def test_a_page_is_shown(demo: Site, path: str) -> None:
    listed = demo.open("/runs?q=helpdesk").text
    runs = re.findall(r'<tr id="(run_\w+)"', listed)
    group = re.search(r"group_\w+", listed)
    assert group
    known = {"run_id": runs[0], "older": runs[1], "group_id": group[0], "index": "0"}
    address = ADDRESSES.get(path, path)
    for name, value in known.items():
        address = address.replace(f"{{{name}}}", value)
    answer = demo.client.get(address.replace("{name}", "judged"), follow_redirects=True)

    assert answer.status_code == (404 if path in ABSENT else 200), answer.text
    if path in ABSENT:
        assert "note bad" in answer.text
    elif "text/html" in answer.headers["content-type"]:
        assert answer.text.startswith("<!doctype html>")
        assert ('data-copied="Link copied"' in answer.text) is (path not in WITHOUT_FRAME)
