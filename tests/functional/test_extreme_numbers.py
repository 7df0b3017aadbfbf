"""Numbers that nobody means, for every option that takes one: a result or a reason, no bug."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.many_commands import run_many
from steelyard.cli.main import command_line

TYPES = ("int", "int range", "float", "float range", "share")
VALUES = ("-1", "99999999999", f"{10**30}", "nan", "inf", "-inf", "1e400")
CASE = (
    '{"id": "a", "input": "x", "criteria": "y", '
    '"assertions": [{"type": "contains", "value": "x"}]}'
)
RUN = ("run", "a.jsonl", "--target", "echo", "--plan")
AGAIN = ("judge", "validate", "judge/gone", "--run", "latest")
WORDS: dict[str, tuple[str, ...]] = {
    "demo": ("demo", "library", "--no-serve"),
    "run": RUN,
    "resume": ("resume", "latest"),
    "runs": ("runs",),
    "compare": ("compare", "latest", "latest"),
    "prune": ("prune", "--yes"),
    "judge validate": AGAIN,
    "serve": ("serve", "--host", "no.such.host.invalid"),
    "key create": ("key", "create", "ci", "--role", "viewer"),
    "review assign": ("review", "assign", "latest", "--count", "1", "--by", "near_threshold"),
}


def options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every option of every command that takes a number."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))
    for one in command.params if path else ():
        is_number = one.type.name in TYPES or one.opts[0] == "--allow-failures"
        if one.param_type_name == "option" and is_number:
            yield " ".join(path), one.opts[0]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a finished run."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "a.jsonl").write_text(CASE, encoding="utf-8")
    (done,) = run_many(folder, [RUN[:-1]])
    assert done.code == 0, done.stderr
    return folder


@pytest.mark.parametrize(("command", "option"), list(options(command_line())))
def test_a_number_that_nobody_means_is_no_bug(project: Path, command: str, option: str) -> None:
    said = run_many(project, [(*WORDS[command], option, value) for value in VALUES])

    for value, done in zip(VALUES, said, strict=True):
        assert done.code in {0, 1, 2}, (value, done.stderr)
        assert "this is a bug" not in done.stderr
        assert done.code == 2 or value not in {"nan", "inf", "-inf", "1e400"}


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("--repeat", "--repeat must be a whole number from 1 to 1,000,000"),
        ("--workers", "--workers must be a whole number from 1 to 256"),
        ("--max-concurrency", "--max-concurrency must be a whole number from 1 to 10,000"),
        ("--limit", "--limit must be a whole number from 1 to 1,000,000,000"),
    ],
)
def test_a_run_cannot_be_asked_for_more_than_there_can_be(
    project: Path, option: str, told: str
) -> None:
    (done,) = run_many(project, [(*RUN[:-1], option, "99999999999")])

    assert (done.code, done.stdout) == (2, "")
    assert told in done.stderr


def test_results_may_be_kept_for_longer_than_there_are_dates(project: Path) -> None:
    (done,) = run_many(project, [("prune", "--older-than", "99999999999", "--yes")])

    assert (done.code, done.stderr) == (0, "")
    assert "nothing to prune (raw results 99999999999 days" in done.stdout
