"""`command`: a program of the user's, asked by its arguments or by JSON on its standard input."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import stat
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Request
from steelyard.targets.agent_reply import read_output, with_latency
from steelyard.targets.http_endpoint import MAX_BODY
from steelyard.targets.processes.bounded_process import BoundedProcess, process_of
from steelyard.targets.processes.command_settings import PLACEHOLDER, CommandSettings
from steelyard.targets.processes.program import Ended, ProcessLimits, Program
from steelyard.targets.processes.supervisor import MAX_PROCESSES
from steelyard.targets.processes.unsupervised import IS_NEEDED, UnsupervisedProcess
from steelyard.targets.request_json import request_bytes, request_row
from steelyard.targets.threads import Threads

_PATIENCE_S = 15.0

_MAX_MESSAGE = 400
# The machine has too much to do just now.
_PASSING = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


class ChildProcesses:
    """Starts programs in a folder, each with supervisors of its own and a thread that waits."""

    def __init__(self, folder: Path, environ: Mapping[str, str], timeout_s: float) -> None:
        self._folder = folder
        self._environ = environ
        self._bounds = ProcessLimits(timeout_s, MAX_BODY)
        self._threads = Threads("steelyard-wait")

    async def run(self, argv: Sequence[str], given: bytes | None) -> Ended:
        """Run a program to its end; when it takes too long or writes too much, it is ended.

        Whatever it started ends with it.
        """
        process = process_of(
            Program(
                argv=argv,
                given=given,
                folder=self._folder,
                environ=self._environ,
                bounds=self._bounds,
            )
        )
        ended = await self._over(process)
        if ended.is_late:
            raise TargetError("timeout", f"no answer within {self._bounds.timeout_s:g} s")
        if ended.is_too_much:
            raise TargetError("bad_response", f"the output is larger than {MAX_BODY >> 20} MB")
        if ended.is_crowded:
            raise TargetError("target_error", f"it started more than {MAX_PROCESSES} processes")
        return ended

    async def _over(self, process: BoundedProcess | UnsupervisedProcess) -> Ended:
        running = asyncio.ensure_future(self._threads.call(process.run))
        try:
            return cast(Ended, await asyncio.shield(running))
        except asyncio.CancelledError:
            process.end()
            await asyncio.wait([running], timeout=_PATIENCE_S)
            raise

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.close()


class CommandTarget:
    """Runs a program, never through a shell, and makes a trace of what it writes."""

    def __init__(self, name: str, settings: CommandSettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        self._clock = clock
        self._children = ChildProcesses(settings.folder, settings.environ, settings.timeout_s)
        self._redact = Redactor.by(settings.rules, settings.secrets)
        names = settings.placeholders
        self._is_asked_by_file = "PROMPT_FILE" in names
        self._is_asked_by_stdin = not names & {"PROMPT", "PROMPT_FILE"}
        self._answers_by_file = "OUTPUT_FILE" in names

    def described(self) -> JsonObject:
        """Its settings, without the values of the environment."""
        settings = self._settings
        return {
            "provider": "command",
            "command": cast(list[JsonValue], list(settings.command)),
            "env": cast(list[JsonValue], sorted(settings.added)),
            "timeout_s": settings.timeout_s,
            **({"supervised": False} if IS_NEEDED else {}),
        }

    async def ask(self, request: Request) -> Trace:
        """One run of the program; if it fails, that is the failure of this record alone."""
        given = request_bytes(request_row(request)) if self._is_asked_by_stdin else None
        with self._scratch() as scratch:
            prompt, output = scratch / "prompt.txt", scratch / "output.txt"
            if self._is_asked_by_file:
                _write(prompt, request.prompt.text)
            values = {
                "PROMPT": request.prompt.text,
                "ID": request.case.id,
                "PROMPT_FILE": str(prompt),
                "OUTPUT_FILE": str(output),
            }
            started = self._clock.monotonic()
            ended = await self._run(values, given)
            latency_ms = (self._clock.monotonic() - started) * 1000
            self._require_success(ended)
            answer = _written(output) if self._answers_by_file else ended.output
        return with_latency(read_output(answer), round(latency_ms, 3))

    async def close(self) -> None:
        """Let go of the threads; every program has ended with its call."""
        self._children.close()

    @contextmanager
    def _scratch(self) -> Generator[Path]:
        """A folder for the files of one call, where it has any."""
        if not (self._is_asked_by_file or self._answers_by_file):
            yield Path()
            return
        made = tempfile.TemporaryDirectory(prefix="steelyard-", ignore_cleanup_errors=True)
        with made as folder:
            yield Path(folder)

    async def _run(self, values: Mapping[str, str], given: bytes | None) -> Ended:
        settings = self._settings
        rest = (
            PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in settings.command[1:]
        )
        try:
            return await self._children.run((settings.program, *rest), given)
        except (OSError, ValueError) as error:
            raise _not_started(settings.command[0], error) from None

    def _require_success(self, ended: Ended) -> None:
        if ended.code == 0:
            return
        how = f"exited with {ended.code}" if ended.code > 0 else f"was ended by {_signal(ended)}"
        # Cut only afterwards: half a secret would not be found.
        complaint = self._redact.text(ended.complaint.decode("utf-8", "replace"))
        complaint = complaint.strip()[-_MAX_MESSAGE:]
        message = f"{self._settings.command[0]} {how}"
        raise TargetError("target_error", f"{message}: {complaint}" if complaint else message)


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise TargetError("bad_request", "the prompt holds half a character") from None


def _written(path: Path) -> bytes:
    """What the program wrote to its output file."""
    try:
        # Without this flag, a pipe at this place would keep us waiting for its writer.
        file = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except OSError as error:
        message = f"{{OUTPUT_FILE}} cannot be read: {error.strerror}"
        raise TargetError("bad_response", message) from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise TargetError("bad_response", "{OUTPUT_FILE} is no file")
        with os.fdopen(file, "rb", closefd=False) as stream:
            data = stream.read(MAX_BODY + 1)
    finally:
        os.close(file)
    if len(data) > MAX_BODY:
        raise TargetError("bad_response", f"{{OUTPUT_FILE}} is larger than {MAX_BODY >> 20} MB")
    return data


def _signal(ended: Ended) -> str:
    try:
        return signal.Signals(-ended.code).name
    except ValueError:
        return f"signal {-ended.code}"


def _not_started(name: str, error: OSError | ValueError) -> TargetError:
    if not isinstance(error, OSError):
        return TargetError("bad_request", f"{name} cannot be given its arguments: {error}")
    if error.errno == errno.E2BIG:
        return TargetError("bad_request", "the prompt is too long for {PROMPT}; use {PROMPT_FILE}")
    code = "service_unavailable" if error.errno in _PASSING else "target_error"
    return TargetError(code, f"{name} cannot be started: {error.strerror}")
