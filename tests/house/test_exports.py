"""`import steelyard` offers a short, fixed list of names and costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import steelyard

EXPORTED = [
    "AsyncClient",
    "Case",
    "Client",
    "Dataset",
    "Finding",
    "Message",
    "Outcome",
    "Project",
    "SteelyardError",
    "Trace",
    "__version__",
    "cases",
    "compare",
    "evaluate",
    "load_eval_cases",
    "load_judge",
    "load_rubric",
    "open_project",
    "read_dataset",
    "read_run",
]
IMPORT = """
import sys
before = set(sys.modules)
import steelyard
for name in sorted(set(sys.modules) - before):
    if name.partition(".")[0] not in sys.stdlib_module_names:
        print(name)
"""


def test_the_exported_names_are_these() -> None:
    assert steelyard.__all__ == EXPORTED


@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_name_leads_to_something(name: str) -> None:
    assert getattr(steelyard, name)


def test_dir_lists_the_exported_names_alone() -> None:
    assert dir(steelyard) == sorted(EXPORTED)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = steelyard.no_such_name


def test_importing_the_package_imports_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["steelyard"]
