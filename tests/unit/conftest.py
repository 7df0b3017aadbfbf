"""Things that use cases work on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.projects import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A new project."""
    made = Project(tmp_path.resolve())
    yield made
    made.close()
