"""A server of a project with runs in every condition, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fakes.served_runs import ServedRuns, make_runs
from servers.service import served
from steelyard.project import open_project

if TYPE_CHECKING:
    import httpx


class Service(NamedTuple):
    """A client of a server, and the runs that are served."""

    client: httpx.Client
    runs: ServedRuns


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[Service]:
    """The server; its runs are not to be changed."""
    runs = make_runs(tmp_path_factory.mktemp("service"))
    with open_project(runs.root) as project, served(project) as client:
        yield Service(client, runs)
