"""Writing a judge, and reading back what was written."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings

from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.writer import judge_row
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.judge import Judge
from strategies.effort import examples
from strategies.judges import JUDGES

WHOLE = Path(__file__).parents[3] / "corpus" / "judge" / "valid" / "every_field.yaml"


def read(data: bytes) -> Judge:
    judge, findings = read_judge(parse_yaml(data))
    assert judge
    assert findings == []
    return judge


@settings(max_examples=examples(200))
@given(JUDGES)
def test_what_was_read_is_written_so_that_it_reads_the_same(judge: Judge) -> None:
    """JD-11"""
    data = write_yaml(judge_row(judge))

    assert read(data) == judge
    assert write_yaml(judge_row(read(data))) == data


def test_every_field_is_written_back() -> None:
    """JD-11"""
    assert judge_row(read(WHOLE.read_bytes())) == parse_yaml(WHOLE.read_bytes()).value
