"""What `--engine ray` says where it cannot be used, and who never loads it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import IO, cast

import pytest

from fakes.warm_command import run_warm
from steelyard.errors import InvalidError, UnavailableError
from steelyard.settings import EngineSettings
from steelyard.store.ray_cluster.cluster import RayOptions, connect

SETTINGS_FRAME = b"\4"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one case."""
    (tmp_path / "steelyard.yaml").write_text("targets: {echo: {provider: echo}}\n", "utf-8")
    case = {"id": "a", "expected_outcome": "?", "input": "?"}
    (tmp_path / "d.jsonl").write_text(json.dumps(case) + "\n", "utf-8")
    return tmp_path


def said(project: Path, *words: str, **variables: str) -> tuple[int, str]:
    command = ("run", "d.jsonl", "--target", "echo", *words)
    done = run_warm(project, *command, environment={**os.environ, **variables})
    return done[0], done[2]


def test_an_address_where_nobody_listens_is_told_at_once(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code, text = said(project, "--engine", "ray", "--address", f"127.0.0.1:{port}")

    assert code == 3
    assert f"no Ray cluster answers at 127.0.0.1:{port}: " in text


def test_a_port_where_something_else_listens_is_told_at_once() -> None:
    with (
        HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        answering = thread.submit(other.handle_request)
        with pytest.raises(UnavailableError, match="something else listens there"):
            connect(RayOptions(address=f"127.0.0.1:{other.server_port}"))
        answering.result()


@pytest.mark.trials
def test_a_signal_while_it_connects_ends_the_command_as_at_any_other_time(project: Path) -> None:
    """A head that greets and says nothing more: Ray waits for it for a while."""
    words = ("run", "d.jsonl", "--target", "echo", "--engine", "ray", "--address")
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        subprocess.Popen(
            [sys.executable, "-m", "steelyard", *words, f"127.0.0.1:{silent.getsockname()[1]}"],
            cwd=project,
            env={**os.environ, "RAY_gcs_server_request_timeout_seconds": "3"},
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process,
    ):
        greeted, _ = silent.accept()
        with greeted:
            greeted.sendall(bytes(3) + SETTINGS_FRAME)
            stream = cast(IO[str], process.stderr)
            first = stream.readline()
            process.send_signal(signal.SIGTERM)
            told = first + stream.read()

    assert "Failed to connect" in first
    assert "SystemExit" not in told
    assert process.returncode == -signal.SIGTERM, told


def test_the_engine_of_the_project_file_is_used_unless_another_one_is_named(
    project: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    text = f"targets: {{echo: {{provider: echo}}}}\nengine: {{name: ray, address: '{address}'}}\n"
    (project / "steelyard.yaml").write_text(text, "utf-8")
    case = {"id": "a", "expected_outcome": "?", "input": "?"}
    graded = {**case, "evaluators": [{"type": "equals", "value": "?"}]}
    (project / "d.jsonl").write_text(json.dumps(graded) + "\n", "utf-8")
    answers = [said(project), said(project, "--engine", "local"), said(project, "--plan")]
    retried = run_warm(project, "retry", "latest")
    other = said(project, "--address", "here")

    assert [code for code, _ in answers] == [3, 0, 0]
    assert f"no Ray cluster answers at {address}: " in answers[0][1]
    assert "host:port, not 'here'" in other[1]
    assert (retried[0], "has no failed record to try again" in retried[2]) == (2, True)


@pytest.mark.parametrize("command", ["worker", "serve"])
def test_a_service_refuses_options_that_belong_to_another_engine(
    project: Path, command: str
) -> None:
    code, _, text = run_warm(project, command, "--address", "h:1")

    assert (code, "--address belongs to --engine ray" in text) == (2, True)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--address", "h:1"), "--address belongs to --engine ray"),
        (("--resources", "GPU=1"), "--resources belongs to --engine ray"),
        (("--send-env", "KEY"), "--send-env belongs to --engine ray"),
        (("--engine", "ray", "--resources", "GPU"), "--resources takes NAME=N, such as GPU=1"),
        (("--engine", "ray", "--resources", "=1"), "not '=1'"),
        (("--engine", "ray", "--address", "here"), "host:port, not 'here'"),
        (("--engine", "ray", "--resources", "GPU=1.5"), "'GPU=1.5' must be whole above 1"),
        (("--engine", "ray", "--resources", "gpu=1"), "did you mean 'GPU'?"),
        (("--engine", "ray", "--address", "http://h:1"), "host:port, not 'http://h:1'"),
        (("--engine", "ray", "--address", "ray://h:1"), "host:port, not 'ray://h:1'"),
        (("--engine", "ray", "--address", "h:99999"), "host:port, not 'h:99999'"),
        (("--engine", "ray", "--send-env", "NO_SUCH"), "NO_SUCH is not set"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    project: Path, words: tuple[str, ...], text: str
) -> None:
    code, found = said(project, *words)

    assert code == 2
    assert text in found


def test_without_ray_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(InvalidError, match=r"pip install 'steelyard\[ray\]'"):
        connect(RayOptions(address="127.0.0.1:1"))


def test_a_local_run_does_not_load_ray(project: Path) -> None:
    code = (
        "import atexit, sys; from steelyard.cli.main import main\n"
        "atexit.register(lambda: print([name for name in sys.modules if 'ray' in name.split('.')"
        " or 'ray_cluster' in name], file=sys.stderr))\n"
        "sys.argv[1:] = ['run', 'd.jsonl', '--target', 'echo', '--format', 'json']\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False
    )

    assert done.stderr.splitlines()[-1] == "[]", done.stderr


def test_what_a_worker_takes_of_a_node() -> None:
    known = RayOptions(resources={"GPU": 0.5, "CPU": 2, "near_model": 1}).actor_options()

    assert (known["num_cpus"], known["num_gpus"]) == (2, 0.5)
    assert known["resources"] == {"near_model": 1}
    assert RayOptions().bundle() == {"CPU": 1}


def test_the_engine_says_first_what_a_worker_takes_and_targets_the_rest() -> None:
    needed = {"GPU": 2, "near_model": 1}
    options = RayOptions.of(EngineSettings(resources={"GPU": 1, "CPU": 0.5}))

    assert options.needing(needed).bundle() == {"CPU": 0.5, "GPU": 1, "near_model": 1}
    assert options.needing({}).bundle() == {"CPU": 0.5, "GPU": 1}
    assert RayOptions().needing(needed).actor_options()["num_gpus"] == 2
