"""Many commands in one process of their own: starting Python costs more than most of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

DRIVER = """
import contextlib, io, json, sys
from steelyard.cli.main import main

def run(words):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    sys.argv = ["steelyard", *words]
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    for stream in (out, err):
        stream.flush()
    return code, out.buffer.getvalue().decode("utf-8"), err.buffer.getvalue().decode("utf-8")

json.dump([run(words) for words in json.load(sys.stdin)], sys.stdout)
"""


class Done(NamedTuple):
    """What one command came to."""

    code: int
    stdout: str
    stderr: str


def run_many(folder: Path, commands: Iterable[Sequence[str]]) -> list[Done]:
    """What each command says and exits with, one after the other in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps([list(words) for words in commands]),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [Done(*row) for row in json.loads(done.stdout)]
