"""The command in processes that start at once: forks of a server that has imported everything.

Python and its imports take longer than most commands; with coverage several times as long.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import IO, NamedTuple, cast

SERVER = """
import gc, importlib, io, json, marshal, os, pkgutil, sys, tempfile
from contextlib import redirect_stderr, redirect_stdout
import email.parser, importlib.readers, numpy.ma, sqlalchemy.dialects.sqlite, uvloop
import steelyard
from steelyard.__main__ import main
from steelyard.cli.main import command_line

for found in pkgutil.walk_packages(steelyard.__path__, "steelyard."):
    if found.name.partition(".")[2] not in {"__main__", "pytest_plugin"}:
        importlib.import_module(found.name)

from steelyard.plugins import installed_checks
from steelyard.project import open_project
from steelyard.usecases.datasets.validate import ValidateOptions, validate

# Makes the schemas of all contracts, which the commands share.
validate(open_project().workspace, sys.argv[1:], ValidateOptions(), installed_checks())
for asked in ["--help", "--version", *command_line().commands]:
    command_line(asked)

# Fills what statements, patterns and types are looked up in.
case = {"id": "a", "input": "x", "expected_outcome": "x", "expected_output": "x"}
case["assertions"] = [{"type": "contains", "value": "x"}]
unread = io.StringIO()
with tempfile.TemporaryDirectory() as folder, redirect_stdout(unread), redirect_stderr(unread):
    os.chdir(folder)
    with open("one.jsonl", "w", encoding="utf-8") as stream:
        json.dump(case, stream)
    for line in ["run one.jsonl --target echo", "show latest", "compare latest latest"]:
        words = line.split()
        command_line(words[0])(words, standalone_mode=False)
    os.chdir("/")

coverage = sys.modules["coverage"].Coverage.current() if "coverage" in sys.modules else None
ran = coverage._collector.data if coverage else {}
letter = tempfile.TemporaryFile(buffering=0)

def begin(folder, words, environment, out, err):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = open(os.devnull, encoding="utf-8")
    os.dup2(sys.stdin.fileno(), 0)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["steelyard", *words]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0

gc.unfreeze()
gc.collect()
gc.freeze()
for line in sys.stdin:
    sizes = {name: len(arcs) for name, arcs in ran.items()}
    child = os.fork()
    if not child:
        code = 1
        try:
            code = begin(**json.loads(line))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            more = {name: arcs for name, arcs in [*ran.items()] if len(arcs) != sizes.get(name)}
            letter.write(marshal.dumps(more))
            os._exit(code)
    print(child, flush=True)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    letter.seek(0)
    told = letter.read()  # nothing by a process that was killed
    for name, arcs in marshal.loads(told).items() if told else ():
        ran.setdefault(name, set()).update(arcs)
    letter.seek(0)
    letter.truncate()
    print(code, flush=True)
if coverage:  # what all of them ran is written once
    coverage.stop()
    coverage.save()
os._exit(0)
"""


WHOLE = sorted((Path(__file__).parents[1] / "corpus" / "whole").iterdir())
"""A file of every contract."""
COVERAGE: dict[str, str] = {}
"""What makes coverage measure a process that is started; tests/conftest.py moves it here."""


class Done(NamedTuple):
    """What one command came to."""

    code: int
    stdout: str
    stderr: str


class WarmCommand:
    """Starts `steelyard` without the time that Python and its imports take; one at a time."""

    def __init__(self, *, is_measured: bool = True) -> None:
        self._files = TemporaryDirectory(prefix="steelyard-warm-")
        self._out, self._err = (Path(self._files.name, name) for name in ("out", "err"))
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVER, *map(str, WHOLE)],
            # A process that is killed has no coverage to write.
            env={**os.environ, **(COVERAGE if is_measured else {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="ascii",
        )
        self._child = 0
        self._done: Done | None = None

    def start(
        self, folder: Path, *words: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """Begin a command in a folder; the one before must have ended."""
        row = {
            "folder": str(folder),
            "words": words,
            "environment": dict(os.environ) if environment is None else dict(environment),
            "out": str(self._out),
            "err": str(self._err),
        }
        stream = cast(IO[str], self._server.stdin)
        stream.write(json.dumps(row) + "\n")
        stream.flush()
        self._child, self._done = int(self._line()), None

    def has_ended(self, within_s: float) -> bool:
        """Whether it has come to its end, or does so soon."""
        stream = cast(IO[str], self._server.stdout)
        return bool(select.select([stream], [], [], within_s)[0])

    def kill(self) -> Done:
        """As a power cut would; it may have been done just before."""
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        return self.wait()

    def wait(self) -> Done:
        """Until it has ended."""
        if self._done is None:
            code = int(self._line())
            said = (path.read_bytes().decode() for path in (self._out, self._err))
            self._done = Done(code, *said)
        return self._done

    def close(self) -> None:
        """End the server."""
        self._server.communicate(timeout=120)
        self._files.cleanup()

    def _line(self) -> str:
        return cast(IO[str], self._server.stdout).readline()


_turn = Lock()
_is_measured = True
_servers: dict[bool, WarmCommand] = {}


def choose_server(*, is_measured: bool) -> None:
    """Have the commands that follow measured or not; measuring doubles their time."""
    global _is_measured  # noqa: PLW0603 - each test process has one test at a time
    _is_measured = is_measured


def run_warm(
    folder: Path, *words: str | Path, environment: Mapping[str, str] | None = None
) -> Done:
    """Run a command to its end in a fork of a server of this test process."""
    with _turn:
        server = _server(is_measured=_is_measured)
        server.start(folder, *map(str, words), environment=environment)
        return server.wait()


def close_servers() -> None:
    """End the servers, which then write what they measured."""
    while _servers:
        _servers.popitem()[1].close()


def _server(*, is_measured: bool) -> WarmCommand:
    if is_measured not in _servers:
        _servers[is_measured] = WarmCommand(is_measured=is_measured)
    return _servers[is_measured]
