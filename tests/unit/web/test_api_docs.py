"""The API's page: every operation, and a filter in the address."""

from __future__ import annotations

from pathlib import Path

from servers.site import site_of
from steelyard.api.application import operations
from steelyard.project import open_project


def test_every_operation_is_described_with_its_scope_and_an_example(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, site_of(project) as site:
        page = site.open("/docs").text
        origin = site.origin

    assert page.count("data-docs-op=") == len(operations())
    assert f"curl {origin}/v1/runs -H" in page
    assert "runs:write" in page
    assert 'id="shape-RunBody"' in page


def test_the_filter_is_in_the_address(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, site_of(project) as site:
        page = site.open("/docs?q=REVOKE").text
        none = site.text("/docs?q=<b>zzz")

    assert page.count("data-docs-op=") == 1
    assert "/v1/keys/{key_id}" in page
    assert "No operation matches “<b>zzz”" in none


def test_examples_use_the_public_address(tmp_path: Path) -> None:
    public = "https://evals.example.org/"
    with open_project(tmp_path) as project, site_of(project, public_url=public) as site:
        assert "curl https://evals.example.org/v1/runs -H" in site.open("/docs").text
