"""What is loaded before anything is done: no more than is needed for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from steelyard.cli.main import application

LOADED = """
import sys
{0}
heavy = {{"asyncio", "numpy", "sqlalchemy", "pydantic", "yaml", "msgspec"}}
print(*sorted(heavy & set(sys.modules)))
"""
RUN = """
from steelyard.cli.main import application
try:
    application({0!r})([{0!r}, "--help"])
except SystemExit:
    pass
"""


@pytest.mark.parametrize(
    ("does", "loaded"),
    [
        pytest.param(
            "import steelyard.part_worker", "asyncio msgspec sqlalchemy yaml", id="worker"
        ),
        pytest.param("import steelyard.usecases.runs.prepare", "asyncio msgspec yaml", id="plan"),
        pytest.param(RUN.format("run"), "", id="run --help"),
        pytest.param(RUN.format("judge"), "", id="judge --help"),
        pytest.param("import steelyard.usecases.correction.current_view", "msgspec", id="show"),
        pytest.param("import steelyard.model.run, steelyard.model.case", "msgspec", id="model"),
    ],
)
def test_nothing_is_loaded_that_is_not_needed(does: str, loaded: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(does)],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )

    assert done.stdout.splitlines()[-1] == loaded


def test_a_command_is_made_alone_and_a_misspelt_one_beside_all() -> None:
    def names(asked: str) -> set[str | None]:
        return {one.name for one in application(asked).registered_commands}

    assert names("run") == {"run"}
    assert names("rubric") == set()
    assert {"run", "resume", "validate"} < names("rnu")
