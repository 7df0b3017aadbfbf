"""Where programs cannot be supervised, limits of time and output hold for the program alone."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from steelyard.targets.processes.program import TAIL, Ended, ProcessLimits, Program
from steelyard.targets.processes.unsupervised import UnsupervisedProcess

SLEEP = "import time; time.sleep(600)"
UPPER = "import sys; print(sys.stdin.read().upper(), end='')"


def process(
    code: str, given: bytes | None = None, timeout_s: float = 60, size: int = 1000
) -> UnsupervisedProcess:
    return UnsupervisedProcess(
        Program(
            argv=(sys.executable, "-I", "-S", "-c", code),
            given=given,
            folder=Path.cwd(),
            environ=dict(os.environ),
            bounds=ProcessLimits(timeout_s, size),
        )
    )


@pytest.mark.parametrize(
    ("code", "given", "expected"),
    [
        (UPPER, b"abc", Ended(0, b"ABC", b"")),
        (UPPER, None, Ended(0, b"", b"")),
        ("import sys; sys.stderr.write('oh no'); sys.exit(3)", None, Ended(3, b"", b"oh no")),
    ],
)
def test_a_program_gets_its_input_and_gives_its_output(
    code: str, given: bytes | None, expected: Ended
) -> None:
    assert process(code, given).run() == expected


def test_a_program_that_takes_too_long_is_ended() -> None:
    ended = process(f"print('half', flush=True); {SLEEP}", timeout_s=0.5).run()

    assert (ended.code, ended.is_late) == (-9, True)


def test_a_program_that_writes_too_much_is_ended() -> None:
    ended = process("while True: print('x' * 999)", size=1000).run()

    assert (ended.code, ended.is_too_much, ended.is_late) == (-9, True, False)


def test_of_complaints_the_end_is_kept() -> None:
    code = f"import sys; sys.stderr.write('x' * {TAIL} + 'end')"

    assert process(code).run().complaint == b"x" * (TAIL - 3) + b"end"


def test_a_program_that_is_not_there_is_an_error() -> None:
    program = Program(
        argv=("./no-such-program",),
        given=None,
        folder=Path.cwd(),
        environ={},
        bounds=ProcessLimits(1, 1),
    )

    with pytest.raises(FileNotFoundError):
        UnsupervisedProcess(program).run()


@pytest.mark.parametrize("is_before", [True, False])
def test_a_program_is_ended_from_another_thread(is_before: bool) -> None:
    running = process(SLEEP)
    if is_before:
        running.end()
    else:
        threading.Timer(0.3, running.end).start()

    assert running.run().code != 0
