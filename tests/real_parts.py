"""Real parts that a newcomer's machine may lack."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def require(*modules: str) -> None:
    """Skip where a module is missing, with the reason; on CI, where all must be there, fail."""
    missing = [name for name in modules if find_spec(name) is None]
    if not missing:
        return
    reason = f"needs {' and '.join(missing)}: pip install {' '.join(missing)}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
