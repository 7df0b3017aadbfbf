from __future__ import annotations

from dataclasses import fields, replace

import pytest

from steelyard.model.case import Attachment, Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.finding import Finding
from steelyard.model.message import FileBlock, Message, OtherBlock, TextBlock, ToolCall
from steelyard.model.reference import Reference
from steelyard.model.trace import Trace, Usage

VALUES = [
    Attachment(path="a.pdf"),
    Case(id="a"),
    Place(),
    Dataset(id="d", contract="eval_cases"),
    Evaluator(name="n", type="cost"),
    RubricItem(id="r", description="short"),
    Finding(severity="error", code="invalid_json", message="x"),
    Message(role="user"),
    TextBlock(text="x"),
    FileBlock(value="x", path="x", text="x"),
    OtherBlock(data={}),
    ToolCall(tool="t"),
    Reference(kind="judge", id="j"),
    Trace(),
    Usage(),
]


def test_where_a_case_was_read_is_no_part_of_what_it_is() -> None:
    case = Case(id="a", place=Place(file="x.yaml", line=3, index=0))

    assert case == Case(id="a", place=Place(file="y.jsonl", line=9, index=4))
    assert repr(case) == repr(Case(id="a"))


def test_everything_else_counts_for_equality() -> None:
    assert replace(Case(id="a"), tags=("x",)) != Case(id="a")
    assert replace(Case(id="a"), extra={"x": 1}) != Case(id="a")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_frozen(value: Case) -> None:
    name = fields(value)[0].name

    with pytest.raises(AttributeError):
        setattr(value, name, "other")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_take_no_further_attributes(value: Case) -> None:
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(value, "further", 1)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_with_the_same_content_are_equal(value: Case) -> None:
    assert replace(value) == value
