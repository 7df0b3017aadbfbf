"""One run of a program: in, out, over, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import pytest
import uvloop

from steelyard.errors import TargetError
from steelyard.targets.http_endpoint import MAX_BODY
from steelyard.targets.processes.bounded_process import TAIL, Ended
from steelyard.targets.processes.child_process import ChildProcesses

Made = TypeVar("Made")
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
UPPER = "import sys; sys.stdout.write(sys.stdin.read().upper())"


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    """Both loops that the engine may run on."""
    return LOOPS[request.param]


class Programs:
    """Runs pieces of Python in a folder."""

    def __init__(self, loop: Callable[[], asyncio.AbstractEventLoop], folder: Path) -> None:
        self._loop = loop
        self.folder = folder
        self._children: dict[float, ChildProcesses] = {}

    def wait(self, made: Coroutine[Any, Any, Made]) -> Made:
        with asyncio.Runner(loop_factory=self._loop) as runner:
            return runner.run(made)

    async def start(
        self, code: str, *words: str, given: bytes | None = None, timeout_s: float = 30
    ) -> Ended:
        argv = (sys.executable, "-I", "-S", "-c", code, *words)
        return await self.started(argv, given, timeout_s)

    async def started(self, argv: Sequence[str], given: bytes | None, timeout_s: float) -> Ended:
        if timeout_s not in self._children:
            self._children[timeout_s] = ChildProcesses(self.folder, os.environ, timeout_s)
        return await self._children[timeout_s].run(argv, given)

    def close(self) -> None:
        for children in self._children.values():
            children.close()

    def run(self, code: str, *words: str, **options: Any) -> Ended:
        return self.wait(self.start(code, *words, **options))

    def fault(self, code: str, *words: str, **options: Any) -> TargetError:
        with pytest.raises(TargetError) as caught:
            self.run(code, *words, **options)
        return caught.value


@pytest.fixture
def programs(loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path) -> Generator[Programs]:
    """Programs in an empty folder."""
    made = Programs(loop, tmp_path)
    yield made
    made.close()


def is_running(pid: int) -> bool:
    """Whether a process lives; one that waits to be buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except FileNotFoundError:
        return False
    return state.split()[0] not in {"Z", "X"}


def has_ended(pid: int) -> bool:
    """The same after a moment: a kill takes its time."""
    until = time.monotonic() + 120
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_running(pid)


def test_what_goes_in_and_what_comes_out(programs: Programs) -> None:
    assert programs.run(UPPER, given="é!".encode()) == Ended(0, "É!".encode(), b"")


def test_without_input_there_is_none(programs: Programs) -> None:
    assert programs.run(UPPER) == Ended(0, b"", b"")


def test_it_runs_in_its_folder_with_its_arguments_and_no_shell(programs: Programs) -> None:
    code = "import os, sys; print(os.getcwd(), sys.argv[1:])"
    ended = programs.run(code, "$HOME; ls", "*")

    assert ended.output.decode() == f"{programs.folder} ['$HOME; ls', '*']\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.stderr.write('oh no'); sys.exit(3)", Ended(3, b"", b"oh no")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", Ended(-11, b"", b"")),
        ("import os; print('half', flush=True); os.abort()", Ended(-6, b"half\n", b"")),
        ("import sys; sys.exit(255)", Ended(255, b"", b"")),
    ],
    ids=["exit", "signal", "abort", "255"],
)
def test_how_it_ended_is_told(programs: Programs, code: str, expected: Ended) -> None:
    assert programs.run(code) == expected


def test_only_the_end_of_a_long_complaint_is_kept(programs: Programs) -> None:
    code = "import sys; sys.stderr.write('a' * 1_000_000 + 'the end'); sys.exit(1)"
    ended = programs.run(code)

    assert len(ended.complaint) == TAIL
    assert ended.complaint.endswith(b"the end")


@pytest.mark.parametrize("given", [None, b"", b"x" * 1_000_000])
def test_a_program_that_hangs_is_ended_in_time(programs: Programs, given: bytes | None) -> None:
    began = time.monotonic()
    error = programs.fault("import time; time.sleep(600)", given=given, timeout_s=0.3)

    assert (error.code, str(error)) == ("timeout", "no answer within 0.3 s")
    assert time.monotonic() - began < 120


def test_a_program_that_will_not_be_asked_to_go_is_ended_too(programs: Programs) -> None:
    code = (
        "import signal, time\n"
        "for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
        "    signal.signal(one, signal.SIG_IGN)\n"
        "time.sleep(600)"
    )

    assert programs.fault(code, timeout_s=0.5).code == "timeout"


def test_output_has_its_cap(programs: Programs) -> None:
    code = "import os\nwhile True: os.write(1, bytes(65536))"
    error = programs.fault(code)

    assert (error.code, str(error)) == ("bad_response", "the output is larger than 16 MB")


@pytest.mark.parametrize("beyond", [0, 1])
def test_output_may_be_as_large_as_it_may_be(programs: Programs, beyond: int) -> None:
    code = f"import sys; sys.stdout.write('a' * {MAX_BODY + beyond})"
    if beyond:
        assert programs.fault(code).code == "bad_response"
    else:
        assert len(programs.run(code).output) == MAX_BODY


@pytest.mark.parametrize(
    "code",
    ["print('done')", "import os; os.close(0); print('done')", "input(); print('done')"],
    ids=["not read", "closed", "half read"],
)
def test_input_that_is_not_read_does_no_harm(programs: Programs, code: str) -> None:
    ended = programs.run(code, given=b"line\n" + b"x" * 1_000_000)

    assert (ended.code, ended.output) == (0, b"done\n")


def test_large_input_is_read_to_its_end(programs: Programs) -> None:
    code = "import sys; print(len(sys.stdin.buffer.read()))"

    assert programs.run(code, given=b"x" * 8_000_000).output == b"8000000\n"


GRANDCHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], {how})
print(child.pid, flush=True)
{then}
"""


@pytest.mark.parametrize("then", ["", "os._exit(0)"])
def test_what_a_program_leaves_behind_ends_with_it(programs: Programs, then: str) -> None:
    began = time.monotonic()
    ended = programs.run(GRANDCHILD.format(how="", then=then))

    assert has_ended(int(ended.output))
    assert time.monotonic() - began < 120


@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_what_a_program_started_ends_with_its_call(programs: Programs, how: str) -> None:
    note = programs.folder / "pid"
    code = GRANDCHILD.format(
        how="",
        then=f"open({str(note)!r} + '_', 'w').write(str(child.pid))\n"
        f"os.rename({str(note)!r} + '_', {str(note)!r})\ntime.sleep(600)",
    )

    async def main() -> str:
        call = asyncio.ensure_future(
            programs.start(code, timeout_s=1.5 if how == "timeout" else 60)
        )
        while not (note.exists() or call.done()):
            await asyncio.sleep(0.01)
        if how == "cancel":
            call.cancel()
        (ended,) = await asyncio.gather(call, return_exceptions=True)
        return type(ended).__name__

    assert programs.wait(main()) == {"cancel": "CancelledError", "timeout": "TargetError"}[how]
    assert has_ended(int(note.read_text(encoding="utf-8")))


def test_one_that_left_the_group_ends_with_the_program(programs: Programs) -> None:
    ended = programs.run(GRANDCHILD.format(how="start_new_session=True", then=""))

    assert not is_running(int(ended.output))


KILLS = {
    "its parent": "os.kill(os.getppid(), 9)",
    "the parent of its parent": "os.kill(above(os.getppid()), 9)",
    "both": "two = [above(os.getppid()), os.getppid()]\n[os.kill(one, 9) for one in two]",
    "as no child of theirs": "prctl(1, 0)\nos.kill(os.getppid(), 9)",
}
KILLER = """
import ctypes, time
prctl = ctypes.CDLL(None).prctl
def above(pid): return int(open(f"/proc/{{pid}}/stat").read().rpartition(")")[2].split()[1])
{kills}
time.sleep(600)
"""


@pytest.mark.parametrize("killed", KILLS)
def test_a_program_that_kills_its_supervisors_leaves_nothing(
    programs: Programs, killed: str
) -> None:
    then = KILLER.format(kills=KILLS[killed])
    ended = programs.run(GRANDCHILD.format(how="start_new_session=True", then=then))

    assert ended.code == -9
    assert has_ended(int(ended.output))


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (("/no/such/program",), FileNotFoundError),
        (("/tmp",), PermissionError),
        ((sys.executable, "a\0b"), ValueError),
        ((sys.executable, "\ud83d"), UnicodeEncodeError),
        ((sys.executable, "-c", "pass", "x" * (1 << 18)), OSError),
    ],
    ids=["missing", "folder", "null", "half", "long"],
)
def test_a_program_that_cannot_be_started_is_an_error_at_once(
    programs: Programs, argv: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        programs.wait(programs.started(argv, b"", 30))


@pytest.mark.trials
def test_two_hundred_at_once_leave_the_loop_free(programs: Programs) -> None:
    gaps: list[float] = []

    async def watch() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - before)

    async def main() -> list[Ended]:
        watching = asyncio.ensure_future(watch())
        code = f"import time; time.sleep(1); {UPPER}"
        calls = (programs.start(code, given=b"%d" % number) for number in range(200))
        ended = await asyncio.gather(*calls)
        watching.cancel()
        return ended

    ended = programs.wait(main())

    assert [one.output for one in ended] == [b"%d" % number for number in range(200)]
    assert len(gaps) > 50
    assert median(gaps) < 1
