"""A server of a project with runs in every condition, shared by the tests of a module."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

import pytest

from fakes.served_runs import ServedRuns, make_runs
from fakes.stores import stores_on_server
from servers.service import served
from steelyard.project import open_project

if TYPE_CHECKING:
    import httpx


class Service(NamedTuple):
    """A client of a server, and the runs that are served."""

    client: httpx.Client
    runs: ServedRuns


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.trials)]
)
def service(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Generator[Service]:
    """The server, with its store in a file or in PostgreSQL; its runs are not to be changed."""
    with stores_on_server(os.environ) if request.param == "postgresql" else nullcontext():
        runs = make_runs(tmp_path_factory.mktemp("service"))
        with open_project(runs.root) as project, served(project) as client:
            yield Service(client, runs)
