"""Runs programs of this machine for checks, shut in as far as the machine allows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from steelyard.checks.programs import NotRun, ProgramCall, Ran
from steelyard.operating_system import IS_WINDOWS
from steelyard.targets.processes.bounded_process import process_of
from steelyard.targets.processes.program import Ended, ProcessLimits, Program
from steelyard.targets.processes.program_files import program_files
from steelyard.targets.processes.supervisor import MAX_PROCESSES

MAX_OUTPUT = 1024 * 1024
MAX_MEMORY = 2 * 1024 * 1024 * 1024
_PASSED_ON = ("PATH", "TMPDIR", "SYSTEMROOT")
_LANGUAGE = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
# A limit set by the parent after the start would come too late for a child's children.
_LIMITED = ("sh", "-c", f'ulimit -c 0; ulimit -d {MAX_MEMORY // 1024}; exec "$@"', "sh")
_SHUT_IN = ("bwrap", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--")
_PROBE_S = 10.0


class LocalPrograms:
    """Runs a program without a shell: a text goes in, a text comes out.

    It sees none of the environment but where programs are, has so much time, memory and output,
    and no network where bubblewrap is installed and works.
    """

    def __init__(
        self,
        root: Path,
        allowed: tuple[str, ...] = (),
        environ: Mapping[str, str] | None = None,
        *,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._root = root.resolve()
        self._redact = redact
        self._allowed = (self._root, *((root / folder).resolve() for folder in allowed))
        own = os.environ if environ is None else environ
        self._environ = {name: own[name] for name in _PASSED_ON if name in own} | _LANGUAGE

    @cached_property
    def is_shut_in(self) -> bool:
        """Whether programs are kept from the network."""
        if self._which("bwrap", self._root) is None:
            return False
        return self._ended((*_SHUT_IN, "true"), b"", self._root, _PROBE_S).code == 0

    def run(self, call: ProgramCall) -> Ran | NotRun:
        """Run it to its end, or stop it when it uses more than it may."""
        name = call.argv[0]
        folder = self._folder(call)
        if isinstance(folder, NotRun):
            return folder
        path = self._which(name, folder)
        if path is None:
            return NotRun("not_found", f"{name} is not installed")
        limited = () if IS_WINDOWS else _LIMITED
        argv = (*(_SHUT_IN if self.is_shut_in else ()), *limited, path, *call.argv[1:])
        given = call.given.encode("utf-8", "replace")
        try:
            ended = self._ended(argv, given, folder, call.timeout_s)
        except (OSError, ValueError) as wrong:
            return NotRun("not_found", f"{name} cannot be run: {wrong}")
        if ended.is_too_much:
            return NotRun("too_much", f"{name} wrote more than {MAX_OUTPUT >> 20} MB")
        if ended.is_crowded:
            return NotRun("too_much", f"{name} started more than {MAX_PROCESSES} processes")
        if ended.is_late:
            return NotRun("timeout", f"{name} took longer than {call.timeout_s:g} s")
        output, complaint = (
            part.decode("utf-8", "replace") for part in (ended.output, ended.complaint)
        )
        # Before anybody cuts it: half a secret would not be found.
        return Ran(ended.code, output, self._redact(complaint))

    def _ended(self, argv: tuple[str, ...], given: bytes, folder: Path, timeout_s: float) -> Ended:
        bounds = ProcessLimits(timeout_s, MAX_OUTPUT)
        program = Program(
            argv=argv, given=given, folder=folder, environ=self._environ, bounds=bounds
        )
        return process_of(program).run()

    def files(self, call: ProgramCall) -> Mapping[str, str]:
        """The files that its command line names, within the folders that the project allows."""
        folder = self._folder(call)
        return (
            {} if isinstance(folder, NotRun) else program_files(call.argv, folder, self._allowed)
        )

    def _which(self, name: str, folder: Path) -> str | None:
        """Where a program is; one with a path is looked for in the folder where it runs."""
        given = str(folder / name) if Path(name).name != name else name
        return shutil.which(given, path=self._environ.get("PATH", os.defpath))

    def _folder(self, call: ProgramCall) -> Path | NotRun:
        """The folder where it runs: beneath the root, or one that the project allows."""
        near = (self._root / call.near).resolve().parent if call.near else self._root
        wanted = call.folder or "."
        above = [folder for folder in near.parents if folder.is_relative_to(self._root)]
        tried = ((base / wanted).resolve() for base in (near, *above))
        found = next((path for path in tried if path.is_dir()), None)
        if found is None:
            return NotRun("not_found", f"there is no folder {wanted} to run {call.argv[0]} in")
        if not any(found.is_relative_to(folder) for folder in self._allowed):
            reason = (
                f"{wanted} lies outside the project; allow.folders in steelyard.yaml permits it"
            )
            return NotRun("not_allowed", reason)
        return found
