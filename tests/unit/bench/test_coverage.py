"""The page on trust has the figures that its command makes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bench import coverage

PAGE = coverage.PAGE.read_text(encoding="utf-8")


def section(name: str) -> list[str]:
    """What stands between the marks of a table."""
    return (
        PAGE.split(f"<!-- {name}: begin -->\n")[1].split(f"\n<!-- {name}: end -->")[0].split("\n")
    )


@pytest.mark.parametrize(
    "code", re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
def test_the_examples_in_python_work(code: str) -> None:
    exec(compile(code, "trust.md", "exec"), {})


def test_the_example_is_what_the_command_prints() -> None:
    assert section("example") == list(coverage.example())


@pytest.mark.parametrize("name", coverage.TABLES)
def test_every_table_stands_between_its_marks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few worlds its figures are rough; rows and columns are those of the page."""
    monkeypatch.setattr(coverage, "RUNS", 3)
    rows = [row.count("|") for row in coverage.TABLES[name]()]

    assert [row.count("|") for row in section(name)] == rows


def test_a_table_takes_the_place_of_the_one_before() -> None:
    page = "top\n<!-- a: begin -->\nold\n<!-- a: end -->\nend\n"

    assert coverage.written(page, "a", iter(["new"])) == page.replace("old", "new")


def test_worlds_are_what_they_are_called() -> None:
    chance = np.random.default_rng(1)
    by_label, by_verdict = (
        make(chance, 0.85) for make in (coverage.by_label, coverage.by_verdict)
    )
    by_eye = coverage.by_eye(chance, 0.85)

    assert by_label.truth[by_label.chosen].sum() == 50
    assert by_verdict.said[by_verdict.chosen].sum() == 50
    assert by_verdict.labelled.inclusion
    errors = by_eye.truth != by_eye.said
    assert errors[by_eye.chosen].mean() > errors.mean()
