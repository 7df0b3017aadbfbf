"""Real parts that a newcomer's machine may lack."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from typing import NoReturn

import pytest


def require(*modules: str) -> None:
    """Skip where a module is missing, with the reason; on CI, where all must be there, fail."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        lack(f"needs {' and '.join(missing)}: pip install {' '.join(missing)}")


def require_program(name: str, package: str) -> None:
    """The same for a program of the system."""
    if shutil.which(name) is None:
        lack(f"needs {name} on the PATH: the system's package {package}")


def lack(reason: str) -> NoReturn:
    """Skip with the reason; on CI, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
