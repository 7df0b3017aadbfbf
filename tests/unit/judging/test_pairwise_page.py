"""The page about pairwise comparison: its judge can be read, its example works."""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.template import is_pairwise
from steelyard.formats.yaml_text import parse_yaml

PAGE = (Path(__file__).parents[3] / "docs" / "pairwise.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def test_the_example_in_python_works() -> None:
    exec(compile(block("python"), "pairwise.md", "exec"), {})


def test_the_judge_is_without_a_finding_and_compares() -> None:
    judge, findings = read_judge(parse_yaml(block("yaml").encode()))

    assert findings == []
    assert judge
    assert is_pairwise(judge)
