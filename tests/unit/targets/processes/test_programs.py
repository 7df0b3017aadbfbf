"""Programs of this machine, run for checks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from real_parts import require_program
from steelyard.checks.php_lint import PhpLint
from steelyard.checks.programs import NotRun, ProgramCall, Ran
from steelyard.model.case import Case
from steelyard.targets.processes.program import TAIL
from steelyard.targets.processes.programs import MAX_MEMORY, MAX_OUTPUT, LocalPrograms
from steelyard.targets.processes.supervisor import MAX_PROCESSES
from strategies.traces import said

ECHO = "import sys; print('got', sys.stdin.read(), flush=True); sys.stderr.write('!'); sys.exit(3)"


def run(
    code: str, given: str = "", timeout_s: float = 60, root: Path = Path(), **more: str
) -> Ran | NotRun:
    call = ProgramCall((sys.executable, "-c", code), given, timeout_s, **more)
    return LocalPrograms(root).run(call)


def call(*argv: str) -> ProgramCall:
    return ProgramCall(argv, "", 10)


def test_a_program_gets_a_text_and_gives_back_code_output_and_complaint() -> None:
    assert run(ECHO, "é") == Ran(3, "got é\n", "!")


def test_output_that_is_no_utf_8_and_input_with_half_a_pair_do_no_harm() -> None:
    assert run(r"import os; os.write(1, b'\xff')", "\ud800") == Ran(0, "\ufffd")


@pytest.mark.parametrize("name", ["no-such-program-of-steelyard", "./missing", "\0"])
def test_a_program_that_is_not_there_is_not_found(tmp_path: Path, name: str) -> None:
    found = LocalPrograms(tmp_path).run(call(name))

    assert found == NotRun("not_found", f"{name} is not installed")


def test_a_word_that_no_program_can_take_is_told(tmp_path: Path) -> None:
    found = LocalPrograms(tmp_path).run(call(sys.executable, "\0"))

    assert found == NotRun("not_found", f"{sys.executable} cannot be run: embedded null byte")


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    found = LocalPrograms(tmp_path).run(call(str(tmp_path)))

    assert found == NotRun("not_found", f"{tmp_path} is not installed")


LEAVING = """
import sys, threading
from pathlib import Path
from steelyard.checks.programs import ProgramCall
from steelyard.targets.processes.programs import LocalPrograms

begun = Path(sys.argv[1])
code = "import sys, time; open(sys.argv[1], 'w').write('here'); time.sleep(600)"
call = ProgramCall((sys.executable, "-c", code, sys.argv[1]), "", 60)
threading.Thread(target=LocalPrograms(Path()).run, args=(call,), daemon=True).start()
while not (begun.exists() and begun.read_text()):
    pass
"""


def test_a_program_ends_with_the_one_that_runs_it(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    started = time.monotonic()
    # The program holds on to the pipe for as long as it lives.
    subprocess.run(
        [sys.executable, "-c", LEAVING, str(begun)],
        stderr=subprocess.PIPE,
        check=True,
        timeout=120,
    )

    assert begun.read_text(encoding="utf-8") == "here"
    assert time.monotonic() - started < 120


def test_a_program_is_stopped_when_its_time_is_over() -> None:
    started = time.monotonic()
    found = run("import time; time.sleep(600)", timeout_s=0.5)

    assert found == NotRun("timeout", f"{sys.executable} took longer than 0.5 s")
    assert time.monotonic() - started < 120


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    later = f"import time; time.sleep(0.7); open({str(mark)!r}, 'w')"
    starts = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {later!r}])"

    assert run(starts) == Ran(0, "")
    time.sleep(1.0)
    assert not mark.exists()


FAR_AWAY = """
import os, sys, time
if not os.fork():
    os.setsid()
    if not os.fork():
        for number in range(3):
            os.close(number)
        os.execve(sys.executable, [sys.executable, "-c", {later!r}], {{}})
    os._exit(0)
os.wait()
time.sleep({rest})
"""


@pytest.mark.parametrize(("rest", "timeout_s"), [(0, 60), (600, 0.5)], ids=["ends", "is late"])
def test_what_left_its_group_and_its_parent_ends_with_the_program(
    tmp_path: Path, rest: float, timeout_s: float
) -> None:
    mark = tmp_path / "mark"
    later = f"import time; time.sleep(1); open({str(mark)!r}, 'w')"
    run(FAR_AWAY.format(later=later, rest=rest), timeout_s=timeout_s)
    time.sleep(1.3)

    assert not mark.exists()


MANY = """
import subprocess, time
for _ in range({count}):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
time.sleep(0.3 if {count} < 100 else 600)
"""


def test_a_program_starts_so_many_processes_and_no_more() -> None:
    assert run(MANY.format(count=20)) == Ran(0, "")
    found = run(MANY.format(count=MAX_PROCESSES + 1))

    assert found == NotRun("too_much", f"{sys.executable} started more than 256 processes")


def test_the_end_of_a_program_by_a_signal_is_told() -> None:
    assert run("import os; os.kill(os.getpid(), 11)") == Ran(-11, "")
    assert run("import os; os.kill(0, 9)") == Ran(-9, "")


KILLED = """
import sys
from pathlib import Path
from steelyard.checks.programs import ProgramCall
from steelyard.targets.processes.programs import LocalPrograms

code = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
LocalPrograms(Path()).run(ProgramCall((sys.executable, "-c", code, sys.argv[1]), "", 60))
"""


def test_a_program_ends_when_the_one_that_runs_it_is_killed(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    begun.touch()
    holder = subprocess.Popen([sys.executable, "-c", KILLED, str(begun)])
    while not (program := begun.read_text(encoding="utf-8")):
        time.sleep(0.01)
    holder.kill()
    holder.wait()
    deadline = time.monotonic() + 20
    while Path("/proc", program).exists() and time.monotonic() < deadline:
        time.sleep(0.01)

    assert not Path("/proc", program).exists()


def test_a_program_that_does_not_read_its_input_does_no_harm() -> None:
    assert run("pass", "x" * 1_000_000) == Ran(0, "")


@pytest.mark.parametrize(("size", "is_kept"), [(MAX_OUTPUT, True), (MAX_OUTPUT + 1, False)])
def test_a_program_may_write_so_much_and_no_more(size: int, is_kept: bool) -> None:
    found = run(f"import sys; sys.stdout.write('x' * {size})")

    assert found == (
        Ran(0, "x" * size)
        if is_kept
        else NotRun("too_much", f"{sys.executable} wrote more than 1 MB")
    )


def test_of_complaints_without_end_the_end_is_kept() -> None:
    found = run("import sys; sys.stderr.write('x' * 3_000_000 + 'the end')")

    assert isinstance(found, Ran)
    assert found.complaint.endswith("xthe end")
    assert len(found.complaint) == TAIL


def test_a_program_sees_nothing_of_the_environment_but_where_programs_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    found = run("import os; print(*sorted(os.environ))")

    assert isinstance(found, Ran)
    kept = set(found.output.split())
    assert {"PATH", "LANG", "LC_ALL"} <= kept
    assert kept <= {
        "PATH",
        "LANG",
        "LC_ALL",
        "PYTHONUTF8",
        "TMPDIR",
        "PWD",
        "SHLVL",
        "OLDPWD",
        "_",
        "STEELYARD_PROGRAM",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold to this limit")
def test_a_program_has_so_much_memory() -> None:
    found = run(f"x = bytearray({MAX_MEMORY + 1})")

    assert isinstance(found, Ran)
    assert (found.exit_code, found.complaint.strip().splitlines()[-1]) == (1, "MemoryError")


WHERE = "import os; print(os.getcwd())"


@pytest.mark.parametrize(
    ("folder", "near", "where"),
    [
        (None, None, "."),
        ("evals", None, "evals"),
        (None, "evals/deep/cases.yaml", "evals/deep"),
        ("graders", "evals/deep/cases.yaml", "evals/graders"),
        ("tools", "evals/deep/cases.yaml", "tools"),
        ("..", "evals/deep/cases.yaml", "evals"),
    ],
)
def test_a_program_runs_beside_the_file_that_names_it_or_further_up(
    tmp_path: Path, folder: str | None, near: str | None, where: str
) -> None:
    for name in ("evals/deep", "evals/graders", "tools"):
        (tmp_path / name).mkdir(parents=True)
    program = ProgramCall((sys.executable, "-c", WHERE), "", 10, folder, near)

    assert LocalPrograms(tmp_path).run(program) == Ran(0, f"{(tmp_path / where).resolve()}\n")


@pytest.mark.parametrize(
    ("folder", "near", "refusal"),
    [
        ("nowhere", None, ("not_found", "there is no folder nowhere to run true in")),
        ("..", None, ("not_allowed", ".. lies outside the project")),
        ("/", "evals/cases.yaml", ("not_allowed", "/ lies outside the project")),
        (None, "../cases.yaml", ("not_allowed", ". lies outside the project")),
    ],
)
def test_a_program_runs_beneath_the_root_alone(
    tmp_path: Path, folder: str | None, near: str | None, refusal: tuple[str, str]
) -> None:
    (tmp_path / "root/evals").mkdir(parents=True)
    found = LocalPrograms(tmp_path / "root").run(ProgramCall(("true",), "", 10, folder, near))

    assert isinstance(found, NotRun)
    assert found.why == refusal[0]
    assert found.reason.startswith(refusal[1])


def test_a_program_may_run_in_a_folder_that_the_project_allows(tmp_path: Path) -> None:
    for name in ("root", "shared"):
        (tmp_path / name).mkdir()
    programs = LocalPrograms(tmp_path / "root", allowed=("../shared",))

    assert programs.run(ProgramCall(("true",), "", 10, "../shared")) == Ran(0, "")


BUBBLEWRAP = """\
#!/bin/sh
echo "$@" >> {log}
[ -e {broken} ] && exit 1
while [ "$1" != "--" ]; do shift; done
shift
exec "$@"
"""


@pytest.mark.parametrize("works", [True, False])
def test_where_bubblewrap_works_a_program_has_no_network(tmp_path: Path, works: bool) -> None:
    log, broken = tmp_path / "log", tmp_path / "broken"
    if not works:
        broken.touch()
    (tmp_path / "bwrap").write_text(BUBBLEWRAP.format(log=log, broken=broken), encoding="utf-8")
    (tmp_path / "bwrap").chmod(0o755)
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    programs = LocalPrograms(tmp_path, environ=environ)

    assert programs.run(call("true")) == Ran(0, "")
    assert programs.run(call("true")) == Ran(0, "")
    assert programs.is_shut_in is works
    calls = log.read_text(encoding="utf-8").splitlines()
    assert len(calls) == (3 if works else 1)
    assert all(line.startswith("--unshare-net --die-with-parent") for line in calls)


@pytest.mark.parametrize(
    ("block", "passed"),
    [
        ("<?php\ndeclare(strict_types=1);\nfinal class A {}", True),
        ("echo 1;", True),
        ("function f( {", False),
        ("<h1><?= $title ?></h1>", True),
        ("echo <<<A\nx\nA;", True),
    ],
)
def test_php_itself_finds_syntax_errors(block: str, passed: bool) -> None:
    require_program("php", "php-cli")
    check = PhpLint(programs=LocalPrograms(Path()))

    assert check.check(said(f"```php\n{block}\n```"), Case(id="a")).passed is passed
