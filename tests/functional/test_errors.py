"""Whatever happens, the user sees one clear line and an exit code, never a traceback."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree as ET

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard import __version__
from steelyard.project import open_project
from steelyard.usecases.access.keys import KeyRequest, create_key
from steelyard.usecases.access.users import add_user

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = [sys.executable, "-m", "steelyard"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FAULTY = """
import steelyard.cli.main as cli

def faulty(_asked):
    raise ZeroDivisionError("a secret \\x1b[2J of ours")

cli.application = faulty
cli.main()
"""
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
OBEYED = {"\x1b", "\x07", "\x9b", "\u202e"}


EARLY = """
import steelyard.cli.main as cli

def interrupted(_asked):
    raise KeyboardInterrupt

cli.application = interrupted
cli.main()
"""


def write_rows(path: Path, count: int) -> None:
    path.write_text("".join('{"id": 7}\n' for _ in range(count)), encoding="utf-8")


@pytest.mark.parametrize(
    ("word", "said"), [("--version", f"steelyard {__version__}\n"), ("-h", "Usage: steelyard ")]
)
def test_help_and_version_are_no_errors(
    steelyard: Steelyard, tmp_path: Path, word: str, said: str
) -> None:
    done = steelyard(word, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Usage: steelyard"),
        (("validat",), "No such command 'validat'. Did you mean 'validate'?"),
        (("validate",), "Missing argument 'PATH...'"),
        (("validate", "--formt", "json", "."), "No such option: --formt"),
        (("validate", "--format", "yaml", "."), "'yaml' is not one of"),
        (("validate", "x" * 5000), "File name too long"),
    ],
)
def test_wrong_usage_is_told_on_stderr_with_2(
    steelyard: Steelyard, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = steelyard(*words, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "convert d.json --to responses -o a.jsonl",
            "--to responses needs --from openai-evals, lm-eval, inspect, otel, agentv, langfuse",
        ),
        (
            "convert d.json --to dataset_document -o d.json",
            "d.json exists; --force writes over it",
        ),
        ("convert d.json --to eval_cases -o a.csv", "; -o names a.csv"),
        ("convert d.json --to legal_eval -o a.jsonl --map a=b", "--map is for tables; name one"),
        ("run d.json --target echo --where tga=x", "d.json: --where: no record has 'tga'"),
        ("run d.json --target echo", "name a rubric with --rubric ("),
        ("run d.json --target echo --corrected", "--corrected says what --fail-under and"),
        ("judge validate rubric/r --write --labels d.json", "--write is for judges; rubric/r"),
        ("judge validate judge/j --run a --dataset d --responses r", "--run compares verdicts"),
    ],
)
def test_the_command_line_names_options(
    steelyard: Steelyard, tmp_path: Path, words: str, said: str
) -> None:
    head = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"}
    data = {**head, "records": [{"record_id": "a", "input": {"prompt": "?"}}]}
    (tmp_path / "d.json").write_text(json.dumps(data), encoding="utf-8")
    done = steelyard(*words.split(), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_wrong_project_file_is_told_with_its_line(steelyard: Steelyard, tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("slices: [tags]\ntarget: {}\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
    done = steelyard("validate", "a.jsonl", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "steelyard.yaml:2: target is not a field" in done.stderr
    assert "did you mean 'targets'?" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that is unreadable")
@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.yaml"])
def test_a_file_that_cannot_be_read_is_a_finding(
    steelyard: Steelyard, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).symlink_to("/proc/self/mem")
    done = steelyard("validate", name, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert f"{name}: error: cannot read: Input/output error [unreadable_file]" in done.stdout


@pytest.mark.parametrize("form", ["text", "json", "github", "junit"])
def test_binary_files_are_findings_in_every_format(
    steelyard: Steelyard, tmp_path: Path, form: str
) -> None:
    for name in ("a.json", "b.jsonl", "c.yaml", "d.bin"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 20)
    done = steelyard("validate", ".", "d.bin", "--format", form, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert not set(done.stdout) & set(map(chr, [*range(9), *range(14, 32), *range(127, 160)]))
    if form == "json":
        assert len(json.loads(done.stdout)["files"]) == 4
    if form == "junit":
        assert len(ET.fromstring(done.stdout)) == 4


def on_a_terminal(*words: str, cwd: Path, no_colour: bool = False) -> str:
    """What the command writes to a terminal, both streams."""
    ours, theirs = pty.openpty()
    extra = {"NO_COLOR": "1"} if no_colour else {}
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=cwd, stdout=theirs, stderr=theirs, env={**os.environ, **extra}
    )
    os.close(theirs)
    data = b""
    try:
        while part := os.read(ours, 65536):
            data += part
    except OSError:  # Linux says so when the other end is closed
        pass
    os.close(ours)
    process.wait(timeout=120)
    return data.decode("utf-8")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files whose names, keys, ids and texts try to command the terminal."""
    folder = tmp_path_factory.mktemp("evil")
    row = json.dumps({"id": EVIL, EVIL: EVIL, "input": 7}, ensure_ascii=False)
    (folder / f"rows{EVIL}.jsonl").write_text(row, encoding="utf-8")
    record = {"record_id": EVIL, EVIL: EVIL, "input": {"prompt": EVIL}}
    (folder / "doc.json").write_text(json.dumps({"records": [record]}), encoding="utf-8")
    (folder / f"raw{EVIL}.yaml").write_text(f"evalcases: {EVIL}", encoding="utf-8")
    (folder / f"passed{EVIL}.txt").touch()
    return folder


@pytest.mark.parametrize("form", ["text", "json", "github", "junit"])
def test_data_never_commands_the_terminal(evil: Path, form: str) -> None:
    shown = on_a_terminal("validate", ".", "--format", form, cwd=evil)

    assert "doc.json" in shown
    assert not set(COLOUR.sub("", shown)) & OBEYED


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_exported_answer_never_commands_the_terminal(tmp_path: Path, form: str) -> None:
    project = Project(tmp_path)
    target = ScriptedTarget(otherwise=EVIL)
    run = project.run(project.ports(target), project.cases([row("a")]))
    project.close()

    words = ("export", run.run_id, "--to", form)
    shown = on_a_terminal(*words, cwd=tmp_path)
    piped = subprocess.run([*COMMAND, *words], cwd=tmp_path, capture_output=True, check=True)

    assert not set(shown) & OBEYED
    assert "\u202e" in piped.stdout.decode("utf-8")


def test_users_and_keys_of_any_name_are_listed(tmp_path: Path) -> None:
    """A database of somebody else may have names that are refused here."""
    with open_project(tmp_path) as project:
        add_user(project.access_ports(), "ada", "admin", "a password")
        create_key(project.access_ports(), KeyRequest("ci", "admin"))
    with closing(sqlite3.connect(tmp_path / ".steelyard" / "steelyard.db")) as database, database:
        database.execute("UPDATE users SET name = ?", (f"ada{EVIL}",))
        database.execute("UPDATE api_keys SET name = ?", (f"ci{EVIL}",))

    for words, name in ((("user", "list"), "ada·"), (("key", "list"), "ci·")):
        shown = on_a_terminal(*words, cwd=tmp_path)
        assert name in shown
        assert "admin" in shown
        assert not set(shown) & OBEYED


def test_colours_are_for_terminals_and_can_be_switched_off(evil: Path) -> None:
    assert COLOUR.search(on_a_terminal("validate", "doc.json", cwd=evil))
    assert not COLOUR.search(on_a_terminal("validate", "doc.json", cwd=evil, no_colour=True))


def test_an_error_message_never_commands_the_terminal(evil: Path) -> None:
    assert not set(on_a_terminal("validate", f"missing{EVIL}", cwd=evil)) & OBEYED


def test_a_terminal_that_lacks_a_character_gets_its_escape(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "' + "x" * 200 + '日本"}', encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "validate", "a.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, b"")
    assert b"\\u2026" in done.stdout


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", 3000)
    process = subprocess.Popen(
        [*COMMAND, "validate", "a.jsonl", "--format", "github"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stderr
    first = process.stdout.readline()
    process.stdout.close()

    assert first.startswith("::error ")
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=120) == 1


def heed_interrupts() -> None:
    """Undo what a shell does to jobs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_command_exits_with_130_and_says_nothing(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.jsonl", 3000)
    process = subprocess.Popen(
        [*COMMAND, "validate", "a.jsonl", "--format", "github"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - there are no threads here
    )
    assert process.stdout
    process.stdout.readline()  # it has begun, and waits for us to read on
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)

    assert (process.returncode, errors) == (130, "")


def test_an_interrupt_before_the_command_begins_is_the_same() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "schema"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (
        2,
        "steelyard: standard output: No space left on device\n",
    )


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_bug_is_one_line_that_asks_for_a_report(debug: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULTY, "fault"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "STEELYARD_DEBUG": debug},
    )
    lines = done.stderr.splitlines()

    assert (done.returncode, done.stdout) == (3, "")
    assert lines[-1] == (
        "steelyard: this is a bug: ZeroDivisionError: a secret ·[2J of ours; please report it "
        "with what the same command prints under STEELYARD_DEBUG=1"
    )
    assert ("Traceback" in lines[0]) is bool(debug)
    assert (len(lines) > 1) is bool(debug)
