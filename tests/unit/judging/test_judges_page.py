"""The page about judges: its files can be read, its examples work, its lists are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.template import VARIABLES
from steelyard.formats.yaml_text import parse_yaml
from steelyard.judging.jury import Aggregation
from steelyard.judging.ladder import RUNGS
from steelyard.model.judge import ScoreType

PAGE = (Path(__file__).parents[3] / "docs" / "judges.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def rows(heading: str) -> set[str]:
    """The names in the first column of the table that has this heading."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines()[2:]]
    return set(re.findall(r"`(\w+)`", " ".join(first)))


@pytest.mark.parametrize("code", blocks("python"))
def test_the_examples_in_python_work(code: str) -> None:
    exec(compile(code, "judges.md", "exec"), {})


@pytest.mark.parametrize("text", blocks("yaml"))
def test_the_files_are_without_a_finding(text: str) -> None:
    content = parse_yaml(text.encode())
    is_judge = "template" in cast(dict[str, Any], content.value)

    found = read_judge(content) if is_judge else read_check_rubric(content, Catalog())

    assert found[0] is not None
    assert found[1] == []


def test_every_variable_is_described() -> None:
    assert rows("variable") == set(VARIABLES)


def test_every_type_of_score_and_every_aggregation_is_described() -> None:
    assert rows("`score_type`") == set(get_args(ScoreType))
    assert rows("aggregation") == set(get_args(Aggregation))


def test_every_rung_is_described() -> None:
    assert rows("rung") == set(RUNGS)
