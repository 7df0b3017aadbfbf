"""Where the real files lie that nobody here wrote; they are not part of the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def conformance() -> Path:
    """The folder that STEELYARD_CONFORMANCE names; CI must have it, others may go without."""
    named = os.environ.get("STEELYARD_CONFORMANCE", "")
    if named and Path(named).is_dir():
        return Path(named)
    reason = f"STEELYARD_CONFORMANCE names no folder: '{named}'"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
