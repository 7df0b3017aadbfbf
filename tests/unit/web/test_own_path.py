"""Only addresses of this site are gone back to."""

from __future__ import annotations

import pytest

from steelyard.web.own_path import own_path


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/runs",
        "/runs?q=a&status=running",
        "/runs/run_1#records",
        "/datasets/a%40b%2Fc",
        "/runs?q=a%20b%09%5C",
    ],
)
def test_own_paths_are_kept(path: str) -> None:
    assert own_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        None,
        "",
        "runs",
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        " //evil.example",
        "/%2Fevil.example",
        "/%2f%2fevil.example",
        "/%5Cevil.example",
        "/%09/evil.example",
        "%2F%2Fevil.example",
        "javascript:alert(1)",
        "/runs\r\nset-cookie: a=b",
        "/login?next=/login",
        "/logout",
        "/" + "a" * 3000,
        "//[",
    ],
)
def test_everything_else_leads_home(path: str | None) -> None:
    assert own_path(path) == "/"
