"""A program to run, its limits, and how it ended."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import IO, NamedTuple

from steelyard.model.frozen_struct import FrozenStruct

TAIL = 65536
"""More than anybody is shown: what is redacted must not have lost its beginning."""


class ProcessLimits(NamedTuple):
    """What a program may use."""

    timeout_s: float
    output_bytes: int


class Ended(NamedTuple):
    """How a program came to its end, or was brought to it."""

    code: int
    """What it exited with; the number of a signal, below zero, where one ended it."""
    output: bytes
    complaint: bytes
    """The end of what it wrote to its standard error."""
    is_late: bool = False
    is_too_much: bool = False
    is_crowded: bool = False
    """Whether it started more processes than it may."""


class Program(FrozenStruct, frozen=True, kw_only=True):
    """What is run, where, and with what."""

    argv: Sequence[str]
    given: bytes | None
    """What stands on its standard input; None for nothing at all."""
    folder: Path
    environ: Mapping[str, str]
    bounds: ProcessLimits

    @contextmanager
    def stdin(self) -> Generator[IO[bytes] | int]:
        """Its standard input, from a file: nobody waits for a program that does not read."""
        if self.given is None:
            yield DEVNULL
            return
        with tempfile.TemporaryFile() as stream:
            stream.write(self.given)
            stream.seek(0)
            yield stream
