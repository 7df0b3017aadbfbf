"""Processes between Steelyard and a program: whatever the program starts ends with it.

A process may leave its group and its parent, but not these: orphans are given to the nearest
process above them that asks for orphans. There are two, and each ends everything when the other
is gone, so that a program that kills its parent gains nothing. They are run as a file and say
what became of the program through a pipe. Every call waits until they are there: this imports
next to nothing, for what Python itself has at its start takes a third of the time of `signal`,
`pathlib` and `contextlib`.
"""

# ruff: noqa: PTH123, PTH208, SIM105

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator, Sequence
    from typing import NoReturn
else:
    import _signal as signal

MAX_PROCESSES = 256
CROWDED = b"crowded"
"""What is said of a program that started more."""
UNSTARTED = b"unstarted "
"""What is said, with the number of the error, of a program that could not be started."""
_SET_DEATH_SIGNAL, _SET_SUBREAPER = 1, 36
_LOOK_S, _LONGEST_LOOK_S = 0.05, 0.5
_END_S = 5.0
# Windows lacks some: there, only the constants of this file are used.
_HEARD, _IGNORED = (
    tuple(getattr(signal, name) for name in names if hasattr(signal, name))
    # Those of the second line Python ignores, and a program would inherit that.
    for names in (("SIGCHLD", "SIGTERM"), ("SIGPIPE", "SIGXFSZ"))
)


def supervised(argv: Sequence[str], telling: int) -> tuple[str, ...]:
    """The words that run a program under supervision."""
    return (sys.executable, "-I", "-S", __file__, str(telling), *argv)


def main(telling: int, argv: Sequence[str]) -> None:
    """Run a program to its end, or to the end of this process, and then end all it started."""
    os.set_inheritable(telling, False)  # noqa: FBT003 - it takes no name
    signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    _take_orphans()
    try:
        watcher = os.fork()
    except OSError as error:
        os.write(telling, UNSTARTED + b"%d" % (error.errno or 0))
        return
    if not watcher:
        _watch(telling, argv)
        os._exit(0)
    _let_go_of_streams()
    _guard(watcher, telling)


def _guard(watcher: int, telling: int) -> None:
    """Wait for the process that watches the program, and do its work when it was killed."""
    while (code := _reaped(watcher)) is None:
        if _heard(_LONGEST_LOOK_S) == signal.SIGTERM:
            _signal(watcher, signal.SIGTERM)
    if code:
        _end_all()
        os.write(telling, b"%d" % -signal.SIGKILL)


def _watch(telling: int, argv: Sequence[str]) -> None:
    """Run the program; when the process above is gone, it is ended."""
    _take_orphans()
    try:
        program = os.fork()
    except OSError as error:
        os.write(telling, UNSTARTED + b"%d" % (error.errno or 0))
        return
    if not program:
        _become(argv, telling)
    _let_go_of_streams()
    verdict = _watched(program)
    _signal(-program, signal.SIGKILL)
    _end_all()
    os.write(telling, verdict)


def _take_orphans() -> None:
    _prctl(_SET_SUBREAPER, 1)
    _prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)


def _prctl(option: int, value: int) -> None:
    import ctypes  # noqa: PLC0415 - only the supervisors themselves need it

    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl:  # only Linux has it; elsewhere the process group must do
        prctl(option, value)


def _become(argv: Sequence[str], telling: int) -> NoReturn:
    os.setsid()
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
    try:
        os.execvp(argv[0], list(argv))  # noqa: S606 - the user's program, never a response
    except OSError as error:
        os.write(telling, UNSTARTED + b"%d\n" % (error.errno or 0))
    finally:
        os._exit(127)


def _let_go_of_streams() -> None:
    """Whoever reads what the program writes waits for every end of the pipe."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)


def _watched(program: int) -> bytes:
    """What became of the program: its exit code, below zero for a signal, or what it did wrong."""
    look_s = _LOOK_S
    while True:
        is_over = _heard(look_s) == signal.SIGTERM
        look_s = min(look_s * 1.2, _LONGEST_LOOK_S)
        code = _reaped(program)
        if code is not None:
            return b"%d" % code
        if is_over:
            return b"%d" % -signal.SIGKILL
        if len(set(descendants(os.getpid()))) > MAX_PROCESSES:
            return CROWDED


def _heard(wait_s: float) -> int | None:
    """The next signal, if there is one soon."""
    if sys.platform == "linux":
        heard = signal.sigtimedwait(_HEARD, wait_s)
        return heard.si_signo if heard else None
    time.sleep(min(wait_s, _LOOK_S))
    return signal.SIGTERM if signal.SIGTERM in signal.sigpending() else None


def _reaped(program: int) -> int | None:
    """The exit code of the program if it has ended; orphans that have are seen off as well."""
    code = None
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                code = os.waitstatus_to_exitcode(ended[1])
    except ChildProcessError:
        pass
    return code


def _end_all() -> None:
    """End what is left; what is stopped first starts nothing while the others are ended."""
    stopped = set[int]()
    while new := set(descendants(os.getpid())) - stopped:
        for process in new:
            _signal(process, signal.SIGSTOP)
        stopped |= new
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline and _has_children():
        for process in descendants(os.getpid()):
            _signal(process, signal.SIGKILL)
        time.sleep(0.001)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _signal(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        pass


def descendants(process: int) -> Iterator[int]:
    """The processes that a process has started, and those that these have."""
    left = [process]
    while left:
        found = list(_children(left.pop()))
        left += found
        yield from found


def _children(process: int) -> Iterator[int]:
    tasks = f"/proc/{process}/task"
    try:
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/children", "rb") as stream:
                yield from map(int, stream.read().split())
    except OSError:  # it has ended meanwhile
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
