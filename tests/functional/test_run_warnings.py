"""What a run tells before it starts: misspelt fields, and settings it does not heed yet."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

CASE = """\
  - id: c{}
    expected_outcome: Says hello.
    input: hello
    expectd_output: hello
    assertions: [{{type: contains, value: hello}}]
"""


@pytest.fixture(scope="module")
def planned(
    steelyard: Steelyard, tmp_path_factory: pytest.TempPathFactory
) -> subprocess.CompletedProcess[str]:
    """The plan of a dataset with five misspelt fields in a project with a bucket."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "steelyard.yaml").write_text("slices: [tags]\n", encoding="utf-8")
    cases = "".join(CASE.format(number) for number in range(5))
    (folder / "cases.yaml").write_text(f"tests:\n{cases}", encoding="utf-8")
    return steelyard("run", "cases.yaml", "--target", "echo", "--plan", cwd=folder)


def test_the_first_misspelt_fields_are_told_with_their_lines(
    planned: subprocess.CompletedProcess[str],
) -> None:
    told = [line for line in planned.stderr.splitlines() if "did you mean" in line]

    assert planned.returncode == 0
    assert [line.split(":")[3] for line in told] == ["5", "10", "15"]
    assert "2 more warning(s); validate lists them" in planned.stderr


def test_what_holds_for_every_run_of_a_group_is_told_once(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    (tmp_path / "steelyard.yaml").write_text(
        "targets: {one: {provider: echo}, two: {provider: echo}}\n"
        "judges: {default: {target: one}}\n"
    )
    (tmp_path / "cases.yaml").write_text(
        "tests: [{id: a, input: hi, expected_outcome: Greets.}]\n"
    )
    words = ("--judge", "accuracy", "--target", "one", "--target", "two", "--plan")
    done = steelyard("run", "cases.yaml", *words, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("has never been validated") == 1


def test_skipped_cases_are_said_at_the_end_with_their_lines(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    good = '{"id": "a", "expected_outcome": "x", "input": "hello", "expected_output": "hello"'
    good += ', "evaluators": [{"type": "contains", "value": "hello"}]}\n'
    bad = '{"id": "b%d", "input": "hello"}\n'
    lines = good + "\n" + "".join(bad % number for number in range(5))
    (tmp_path / "cases.jsonl").write_text(lines, encoding="utf-8")
    done = steelyard("run", "cases.jsonl", "--target", "echo", cwd=tmp_path)

    said = done.stdout[done.stdout.index("  no score") :].splitlines()
    assert done.returncode == 4
    assert said[1:5] == [
        "             Line 3: missing expected_outcome",
        "             Line 4: missing expected_outcome",
        "             Line 5: missing expected_outcome",
        "             and 2 more",
    ]
