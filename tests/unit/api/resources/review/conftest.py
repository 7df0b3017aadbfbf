"""A server without login over one judged run, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from servers.review_service import ReviewService, make_review_run
from servers.service import served
from steelyard.project import open_project


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[ReviewService]:
    """The server; nobody opens the results of its run over HTTP, so that people are blind."""
    root = tmp_path_factory.mktemp("review")
    run_id = make_review_run(root)
    with open_project(root) as project, served(project) as client:
        yield ReviewService(client, project, run_id)
