"""Which process works on a run, and whether it still lives."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.store import owners
from steelyard.store.owners import is_alive, this_process


def test_this_process_is_alive() -> None:
    assert is_alive(this_process())


def test_a_process_has_one_name() -> None:
    assert this_process() == this_process()
    assert this_process().startswith(f"{socket.gethostname()}:{os.getpid()}:")


def test_a_process_that_has_ended_is_not_alive() -> None:
    code = "from steelyard.store.owners import this_process; print(this_process())"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert not is_alive(ended.stdout.strip())


def test_a_process_that_is_dead_but_not_buried_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        deadline = time.monotonic() + 120
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)

        assert not is_alive(f"{socket.gethostname()}:{child.pid}:123")


def test_another_process_that_was_given_the_same_number_is_another() -> None:
    assert not is_alive(f"{socket.gethostname()}:{os.getpid()}:1")


def test_without_proc_the_start_comes_from_ps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(owners, "_PROCESSES", tmp_path)
    host, number, started = this_process().rsplit(":", 2)
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        gone = child
        child.wait()

    assert re.fullmatch(r"\w{3}-\w{3}-\d+-\d\d\.\d\d\.\d\d-\d{4}", started)
    assert is_alive(f"{host}:{number}:{started}")
    assert not is_alive(f"{host}:{number}:Mon-Jan-1-00.00.00-1990")
    assert not is_alive(f"{host}:{gone.pid}:{started}")


def test_where_the_system_tells_no_start_the_number_must_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(owners, "_PROCESSES", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert this_process() == f"{socket.gethostname()}:{os.getpid()}:"
    assert is_alive(this_process())


def test_windows_is_never_asked_by_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "IS_WINDOWS", True)

    assert is_alive(f"{socket.gethostname()}:{os.getpid()}:1")


def test_of_another_host_we_must_believe_that_it_lives() -> None:
    assert is_alive("elsewhere.example:1:1")


def test_a_host_may_have_colons() -> None:
    assert is_alive("fe80::1:4711:99")


@pytest.fixture
def nobody() -> Iterator[None]:
    """Whoever runs the tests, root included, has no rights meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    yield
    os.setresuid(0, 0, 0)


@pytest.mark.usefixtures("nobody")
def test_a_process_of_another_user_is_alive() -> None:
    assert is_alive(f"{socket.gethostname()}:1:1")
