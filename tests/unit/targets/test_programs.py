"""Programs of this machine, run for checks."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from real_parts import require_program
from steelyard.checks.php_lint import PhpLint
from steelyard.checks.programs import NotRun, Ran
from steelyard.model.case import Case
from steelyard.targets.programs import LocalPrograms
from strategies.traces import said

ECHO = "import sys; print('got', sys.stdin.read(), flush=True); sys.stderr.write('!'); sys.exit(3)"


def run(code: str, given: str = "", timeout_s: float = 60) -> Ran | NotRun:
    return LocalPrograms().run((sys.executable, "-c", code), given, timeout_s)


def test_a_program_gets_a_text_and_gives_back_code_and_output() -> None:
    assert run(ECHO, "é") == Ran(3, "got é\n!")


def test_output_that_is_no_utf_8_and_input_with_half_a_pair_do_no_harm() -> None:
    assert run(r"import os; os.write(1, b'\xff')", "\ud800") == Ran(0, "\ufffd")


def test_a_program_that_is_not_there_is_not_found() -> None:
    found = LocalPrograms().run(("no-such-program-of-steelyard",), "", 1)

    assert found == NotRun("not_found", "no-such-program-of-steelyard is not installed")


def test_a_program_that_cannot_be_run_is_not_found_either(tmp_path: Path) -> None:
    found = LocalPrograms().run((str(tmp_path),), "", 1)

    assert found == NotRun("not_found", f"{tmp_path} cannot be run: Permission denied")


def test_a_program_is_stopped_when_its_time_is_over() -> None:
    started = time.monotonic()
    found = run("import time; time.sleep(60)", timeout_s=0.5)

    assert found == NotRun("timeout", f"{sys.executable} took longer than 0.5 s")
    assert time.monotonic() - started < 30


def test_a_program_that_does_not_read_its_input_does_no_harm() -> None:
    assert run("pass", "x" * 1_000_000) == Ran(0, "")


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
    check = PhpLint(programs=LocalPrograms())

    assert check.check(said(f"```php\n{block}\n```"), Case(id="a")).passed is passed
