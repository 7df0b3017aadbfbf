"""A real model behind a real server, for all tests of this folder."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from real_parts import require

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a model that was written a moment ago."""
    require("gguf", "xllamacpp")
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    subprocess.run([sys.executable, str(HERE / "tiny_model.py"), str(model)], check=True)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(HERE / "serve.py"), str(model), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        address = next(line for line in process.stdout if line.startswith("http")).strip()
        yield address
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(120)
        process.stdout.close()
