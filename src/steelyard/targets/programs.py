"""Runs programs of this machine for checks."""

from __future__ import annotations

import subprocess

from steelyard.checks.programs import NotRun, Ran


class LocalPrograms:
    """Runs a program without a shell: a text goes in, a text comes out."""

    def run(self, argv: tuple[str, ...], given: str, timeout_s: float) -> Ran | NotRun:
        """Run it to its end, or stop it when the time is over."""
        name = argv[0]
        try:
            done = subprocess.run(  # noqa: S603 - argv of a check, never of a response
                argv,
                input=given.encode("utf-8", "replace"),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except FileNotFoundError:
            return NotRun("not_found", f"{name} is not installed")
        except subprocess.TimeoutExpired:
            return NotRun("timeout", f"{name} took longer than {timeout_s:g} s")
        except OSError as wrong:
            return NotRun("not_found", f"{name} cannot be run: {wrong.strerror}")
        return Ran(done.returncode, done.stdout.decode("utf-8", "replace"))
