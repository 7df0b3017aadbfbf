"""Values made of structs can be read and replaced as dataclasses can."""

from __future__ import annotations

import pickle
from dataclasses import asdict, fields, is_dataclass, replace
from inspect import signature

import pytest

from steelyard.model.case import Case, Place
from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.run import PlannedRecord, Result
from steelyard.model.trace import Served, Trace, Usage
from steelyard.model.verdict import CheckResult, Verdict

CASE = Case(id="a", input_messages=(Message(role="user", content="Why?"),), tags=("loans",))


@pytest.mark.parametrize("kind", [Case, Message, Trace, Usage, Outcome, Verdict, Result])
def test_the_functions_of_dataclasses_work_on_a_struct(kind: type[Case]) -> None:
    assert is_dataclass(kind)
    assert [field.name for field in fields(kind)] == list(kind.__struct_fields__)
    assert list(signature(kind).parameters) == list(kind.__struct_fields__)


def test_a_copy_with_another_field_is_made_as_of_a_dataclass() -> None:
    assert replace(CASE, id="b") == Case(
        id="b", input_messages=CASE.input_messages, tags=("loans",)
    )
    assert asdict(CASE)["input_messages"][0]["content"] == "Why?"


def test_where_a_value_comes_from_is_no_part_of_it() -> None:
    placed = replace(CASE, place=Place(line=7))
    served = Trace(served=Served(200, "r"))

    assert placed == CASE
    assert placed.place.line == 7
    assert served == Trace()
    assert "place" not in repr(placed)
    assert "served" not in repr(served)
    assert replace(CASE, id="b") != CASE
    assert CASE != "a"


def test_defaults_are_not_shared() -> None:
    first, second = Case(id="a"), Case(id="b")

    assert first.metadata is not second.metadata


def test_values_can_be_sent_to_other_processes() -> None:
    result = PlannedRecord(index=3, record_id="a", slices=(("tags", "loans"),)).result("skipped")
    found = CheckResult(check="x", kind="equals", outcome=Outcome.passing("yes"))
    verdict = Verdict(status="evaluated", results=(found,), score=1.0, passed=True)

    assert pickle.loads(pickle.dumps((CASE, result, verdict))) == (CASE, result, verdict)
    assert result == Result(index=3, record_id="a", status="skipped", slices=(("tags", "loans"),))
