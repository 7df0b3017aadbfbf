"""The judges that come along."""

from __future__ import annotations

from importlib.resources import files

from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.writer import judge_row
from steelyard.formats.yaml_text import parse_yaml


def test_the_accuracy_judge_is_sound() -> None:
    """JD-12"""
    data = files("steelyard.contracts.judge").joinpath("built_in/accuracy.yaml").read_bytes()
    judge, findings = read_judge(parse_yaml(data))

    assert findings == []
    assert judge
    assert judge.name == "judge/accuracy@1.0.0"
    assert judge_row(judge) == parse_yaml(data).value
