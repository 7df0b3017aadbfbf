"""Things that use cases work on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from fakes.projects import Project
from fakes.stores import stores_on_server


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that wants both stores with each, unless it is about files."""
    if "both_stores" in metafunc.fixturenames:
        is_of_file = metafunc.definition.get_closest_marker("sqlite") is not None
        on_server = () if is_of_file else (pytest.param("postgresql", marks=pytest.mark.trials),)
        metafunc.parametrize("both_stores", ["sqlite", *on_server], indirect=True)


@pytest.fixture
def both_stores(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test with its stores in files, and once more with PostgreSQL."""
    with stores_on_server(os.environ) if request.param == "postgresql" else nullcontext():
        yield


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A new project."""
    made = Project(tmp_path.resolve())
    yield made
    made.close()
