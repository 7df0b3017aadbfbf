"""How numpy is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LOADED = "import os; from steelyard.stats.arrays import np; {}"


@pytest.mark.parametrize(("given", "left"), [(None, "None"), ("2", "2")])
def test_programs_inherit_the_number_of_threads_that_was_given(
    given: str | None, left: str
) -> None:
    env = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if given is not None:
        env["OPENBLAS_NUM_THREADS"] = given

    found = _printed(
        "import subprocess, sys; subprocess.run([sys.executable, '-c', "
        "\"import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))\"], check=True)",
        env,
    )

    assert found == left


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads that Linux lists")
def test_products_take_one_thread() -> None:
    env = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}

    assert (
        _printed("np.ones((2, 2)) @ np.ones(2); print(len(os.listdir('/proc/self/task')))", env)
        == "1"
    )


def _printed(does: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(does)],
        capture_output=True,
        encoding="utf-8",
        env=env,
        check=True,
        timeout=120,
    )
    return done.stdout.strip()
