"""`command`: how a program is asked, and what becomes of what it writes."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import pytest
import uvloop

from fakes.asking import answer, failure, question
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.message import ToolCall
from steelyard.model.run import TRANSIENT
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Prompt, Request
from steelyard.store.clock import SystemClock
from steelyard.targets.http_endpoint import MAX_BODY
from steelyard.targets.processes.command import ChildProcesses, CommandTarget
from steelyard.targets.processes.command_settings import CommandSettings
from steelyard.targets.processes.program import TAIL, Ended

SECRET = "hush-hush-hush"
TRACE: dict[str, Any] = {
    "messages": [
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "tool": "hours", "input": {"day": 7}, "output": "9 to 5"}],
        },
        {"role": "assistant", "content": "At nine."},
    ],
    "usage": {"input_tokens": 7, "output_tokens": 2},
    "model": "m-1",
}


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files of calls go; nothing may stay there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def target(code: str, *words: str, folder: Path | None = None, **settings: Any) -> CommandTarget:
    """A piece of Python as a program."""
    given: dict[str, Any] = {"environ": dict(os.environ), "timeout_s": 30.0, **settings}
    made = CommandSettings(
        command=("snake", "-I", "-S", "-c", code, *words),
        program=sys.executable,
        folder=folder or Path.cwd(),
        **given,
    )
    return CommandTarget("agent", made, SystemClock())


def saying(value: object) -> str:
    """A program that writes a text, or a value as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return f"import sys; sys.stdout.buffer.write({text!r}.encode('utf-8', 'surrogatepass'))"


def test_json_on_stdin_and_a_text_on_stdout() -> None:
    code = "import sys; print('got', sys.stdin.read())"
    messages = (("system", "Be kind."), ("user", "Hé?"))
    request = Request(Case(id="q1"), Prompt(messages, "Be kind.\n\nHé?"), repeat=2, attempt=3)

    said = answer(target(code), request).response

    assert json.loads(said.removeprefix("got ")) == {
        "id": "q1",
        "prompt": "Be kind.\n\nHé?",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hé?"},
        ],
        "repeat": 2,
        "attempt": 3,
    }


def test_a_trace_on_stdout_is_the_trace() -> None:
    trace = answer(target(saying(TRACE)))

    assert trace.messages[0].tool_calls == (
        ToolCall(id="c1", tool="hours", input={"day": 7}, output="9 to 5"),
    )
    assert (trace.response, trace.model) == ("At nine.", "m-1")
    assert trace.usage == Usage(input_tokens=7, output_tokens=2)


def test_latency_is_measured_unless_the_program_says_it() -> None:
    measured = answer(target(saying(TRACE))).latency_ms

    assert measured is not None
    assert 1 < measured < 20_000
    assert answer(target(saying({**TRACE, "latency_ms": 7}))).latency_ms == 7


ARGUMENTS = "import sys; print(sys.argv[1:], repr(sys.stdin.read()))"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (("{PROMPT}",), "['Why?'] ''"),
        (("--id={ID}", "{ID}-{PROMPT}"), "['--id=q1', 'q1-Why?'] ''"),
        (("{PROMPT}", "{lower}", "{}"), "['Why?', '{lower}', '{}'] ''"),
    ],
)
def test_placeholders_are_filled_in_the_arguments(words: tuple[str, ...], seen: str) -> None:
    assert answer(target(ARGUMENTS, *words), question("Why?")).response == seen


@pytest.mark.parametrize("text", ["{ID} {PROMPT_FILE}", "$(id) `id` ; id", "-rf", "a  b\n'\"c"])
def test_what_was_filled_in_is_neither_filled_again_nor_read_by_a_shell(text: str) -> None:
    said = answer(target("import sys; print(sys.argv[1])", "{PROMPT}"), question(text)).response

    assert said == text


def test_without_a_placeholder_for_the_prompt_it_comes_on_stdin() -> None:
    code = "import json, sys; print(sys.argv[1], json.load(sys.stdin)['prompt'])"

    assert answer(target(code, "{ID}"), question("Why?")).response == "q1 Why?"


FILES = """
import sys
prompt = open(sys.argv[1], encoding="utf-8").read()
open(sys.argv[2], "w", encoding="utf-8").write(prompt.upper())
print("this goes nowhere")
"""


def test_the_prompt_may_come_in_a_file_and_the_answer_go_to_one(scratch: Path) -> None:
    made = target(FILES, "{PROMPT_FILE}", "{OUTPUT_FILE}")

    assert answer(made, question("Wärum?")).response == "WÄRUM?"
    assert list(scratch.iterdir()) == []


def test_a_prompt_too_long_for_an_argument_fits_into_a_file() -> None:
    text = "word " * 60_000
    refused = failure(target(ARGUMENTS, "{PROMPT}"), question(text))
    code = "import sys; print(len(open(sys.argv[1]).read()))"

    assert refused.code == "bad_request"
    assert "use {PROMPT_FILE}" in str(refused)
    assert answer(target(code, "{PROMPT_FILE}"), question(text)).response == "299999"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("pass", "{OUTPUT_FILE} cannot be read: No such file or directory"),
        ("import os, sys; os.mkfifo(sys.argv[1])", "{OUTPUT_FILE} is no file"),
        ("import os, sys; os.mkdir(sys.argv[1])", "{OUTPUT_FILE} is no file"),
        (
            "import sys; open(sys.argv[1], 'wb').truncate((16 << 20) + 1)",
            "{OUTPUT_FILE} is larger than 16 MB",
        ),
        ("import sys; open(sys.argv[1], 'wb').write(b'\\xff')", "not UTF-8"),
    ],
    ids=["missing", "pipe", "folder", "large", "no text"],
)
def test_an_output_file_that_is_none_is_told(code: str, said: str, scratch: Path) -> None:
    error = failure(target(code, "{OUTPUT_FILE}"))

    assert error.code == "bad_response"
    assert said in str(error)
    assert list(scratch.iterdir()) == []


def test_an_output_file_may_be_as_large_as_it_may_be() -> None:
    code = "import sys; open(sys.argv[1], 'wb').write(b'a' * (16 << 20))"

    assert len(answer(target(code, "{OUTPUT_FILE}")).response) == 16 << 20


@pytest.mark.parametrize("word", ["{PROMPT}", "{PROMPT_FILE}", ""])
@pytest.mark.parametrize("text", ["half \ud83d"])
def test_a_prompt_that_is_no_text_is_a_bad_request(word: str, text: str) -> None:
    assert failure(target("pass", word), question(text)).code == "bad_request"


def test_an_argument_with_a_null_byte_is_a_bad_request() -> None:
    error = failure(target("pass", "{PROMPT}"), question("a\0b"))

    assert (error.code, str(error)) == (
        "bad_request",
        "snake cannot be given its arguments: embedded null byte",
    )


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit(3)", "snake exited with 3"),
        ("import sys; sys.exit('no such tool')", "snake exited with 1: no such tool"),
        ("print('half an answer'); raise SystemExit(2)", "snake exited with 2"),
        ("import os; os.kill(os.getpid(), 11)", "snake was ended by SIGSEGV"),
        ("import os; os.kill(os.getpid(), 40)", "snake was ended by signal 40"),
        ("import os, sys; os.write(2, b'\\xff!'); sys.exit(1)", "snake exited with 1: \ufffd!"),
    ],
    ids=["code", "complaint", "output", "signal", "unnamed signal", "no text"],
)
def test_a_program_that_fails_says_so(code: str, said: str) -> None:
    error = failure(target(code))

    assert (error.code, str(error)) == ("target_error", said)
    assert error.code not in TRANSIENT


def test_a_complaint_is_told_by_its_end() -> None:
    said = str(failure(target("import sys; sys.exit('word ' * 10_000 + 'the end')")))

    assert said.startswith("snake exited with 1: ")
    assert said.endswith("the end")
    assert len(said) <= 440


@pytest.mark.parametrize("before", [0, 380, 395, 4090])
def test_no_message_shows_a_secret_of_the_environment(before: int) -> None:
    code = f"import os, sys; sys.exit(os.environ['TOKEN'] + 'x' * {before})"
    made = target(code, environ={**os.environ, "TOKEN": SECRET}, secrets=(SECRET,))
    said = str(failure(made))

    assert SECRET not in said
    assert SECRET[4:] not in said


def test_a_program_that_hangs_is_a_timeout() -> None:
    error = failure(target("import time; time.sleep(600)", timeout_s=0.3))

    assert (error.code, str(error)) == ("timeout", "no answer within 0.3 s")


def test_a_program_that_writes_without_end_is_a_bad_response() -> None:
    error = failure(target("import os\nwhile True: os.write(1, bytes(65536))"))

    assert (error.code, str(error)) == ("bad_response", "the output is larger than 16 MB")


def test_output_that_is_no_text_is_a_bad_response() -> None:
    error = failure(target("import os; os.write(1, b'nine \\xff')"))

    assert (error.code, str(error)) == (
        "bad_response",
        "the output is not UTF-8: byte 0xff at offset 5; have the program write UTF-8",
    )


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOENT, "target_error"),
        (errno.EAGAIN, "service_unavailable"),
        (errno.ENOMEM, "service_unavailable"),
        (errno.EMFILE, "service_unavailable"),
    ],
)
def test_a_program_that_cannot_be_started_is_told(
    number: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_words: object, **_settings: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("subprocess.Popen", refuse)
    error = failure(target("pass"))

    assert (error.code, str(error)) == (code, f"snake cannot be started: {os.strerror(number)}")


def test_it_runs_in_the_project_with_the_environment_it_was_given(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['MOOD'], 'HOME' in os.environ)"
    made = target(code, folder=tmp_path, environ={"MOOD": "good"})

    assert answer(made).response == f"{tmp_path} good False"


def test_one_that_fails_does_not_spoil_the_others() -> None:
    code = (
        "import json, sys; asked = json.load(sys.stdin)['prompt']; "
        "sys.exit('bad') if asked == 'fail' else print(asked.upper())"
    )

    async def main() -> list[str]:
        asked = target(code)
        texts = ["one", "fail", "two"]
        ends = await asyncio.gather(
            *(asked.ask(question(text)) for text in texts), return_exceptions=True
        )
        await asked.close()
        return [end.response if isinstance(end, Trace) else str(end) for end in ends]

    assert asyncio.run(main()) == ["ONE", "snake exited with 1: bad", "TWO"]


def test_its_settings_show_no_value_of_the_environment() -> None:
    made = target("pass", "{PROMPT}", added=("TOKEN", "MOOD"), secrets=(SECRET,))

    assert made.described() == {
        "provider": "command",
        "command": ["snake", "-I", "-S", "-c", "pass", "{PROMPT}"],
        "env": ["MOOD", "TOKEN"],
        "timeout_s": 30.0,
    }


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
