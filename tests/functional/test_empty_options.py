"""An empty text is no value: a variable of a script that is not set must not change a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.many_commands import run_many
from steelyard.cli.main import command_line


def options(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every option of every command that takes a value."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))
    for one in command.params if path else ():
        if one.param_type_name == "option" and not one.is_flag:
            yield path, one.opts[0]


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_text_is_an_error_for_every_option(tmp_path: Path, value: str) -> None:
    given = list(options(command_line()))
    said = run_many(tmp_path, [(*path, name, value) for path, name in given])

    assert len(given) > 60
    for (_, name), done in zip(given, said, strict=True):
        assert (done.code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"steelyard: {name} is empty; ")
        assert "give a value: " in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "a.jsonl", "--rubric="), "--rubric is empty; leave it out, or give"),
        (("regrade", "latest", "--rubric", ""), "--rubric is empty; give a value: rubric"),
        (("run", ""), "an argument is empty; leave it out, or name what is meant"),
        (("validate", "--strict", "a.jsonl", ""), "an argument is empty"),
        (("",), "an argument is empty"),
    ],
)
def test_it_is_told_what_would_be_right(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    (done,) = run_many(tmp_path, [words])

    assert (done.code, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_suite_without_a_name_of_its_rubric_is_refused(tmp_path: Path) -> None:
    suites = 'suites: {s: {dataset: a.jsonl, target: echo, rubric: " "}}\n'
    (tmp_path / "steelyard.yaml").write_text(suites, encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "input": "x", "criteria": "y"}', "utf-8")
    (done,) = run_many(tmp_path, [("run", "--suite", "s")])

    assert (done.code, done.stdout) == (2, "")
    assert "rubric" in done.stderr
