"""Parts of predictions have the fields of the whole, and read what it says."""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import structs

from fakes.predictions import SCORED, prediction_json
from steelyard.results import attempts, projections
from steelyard.results.attempts import Attempt
from steelyard.results.predictions import CheckScore, Prediction

WHOLE: dict[type[msgspec.Struct], type[msgspec.Struct]] = {
    projections.GradedPrediction: Prediction,
    projections.GradedCheck: CheckScore,
    projections.Answer: Prediction,
    projections.JudgedPrediction: Prediction,
    projections.JudgedCheckScore: CheckScore,
    projections.ReviewedPrediction: Prediction,
    projections.ReviewedCheck: CheckScore,
    projections.PairwisePrediction: Prediction,
    projections.PairwiseCheck: CheckScore,
    attempts.AttemptPlace: Attempt,
}
ROW = prediction_json(
    7,
    score=0.5,
    reason="why",
    cluster="c",
    slices={"tags": ["a"]},
    trace={"messages": [{"role": "assistant", "content": "4"}]},
    evaluator_scores=[{**SCORED, "check": "right", "score": 0.5, "judge": "judge/a@1.0.0"}],
)


SIMPLE: set[object] = {int, float, str, bool, type(None), msgspec.UnsetType}


def simple(kind: object) -> set[object]:
    """The simple types that a field may have; what has parts of its own is Any."""
    if get_origin(kind) in {UnionType, Union}:
        return {one for part in get_args(kind) for one in simple(part)}
    return {kind} if kind in SIMPLE else {Any}


@pytest.mark.parametrize("part", WHOLE, ids=lambda part: part.__name__)
def test_a_part_has_fields_of_the_whole_alone(part: type[msgspec.Struct]) -> None:
    mine, whole = get_type_hints(part), get_type_hints(WHOLE[part])

    assert set(part.__struct_fields__) <= set(WHOLE[part].__struct_fields__)
    for name in part.__struct_fields__:
        assert simple(mine[name]) <= simple(whole[name]) | {Any}


@pytest.mark.parametrize("part", WHOLE, ids=lambda part: part.__name__)
def test_a_part_requires_nothing_that_the_whole_does_not(part: type[msgspec.Struct]) -> None:
    def required(kind: type[msgspec.Struct]) -> set[str]:
        return {field.name for field in structs.fields(kind) if field.required}

    assert required(part) <= required(WHOLE[part]) | {"call", "details"}


def test_every_part_of_a_prediction_is_listed() -> None:
    parts = {
        one
        for one in vars(projections).values()
        if isinstance(one, type) and issubclass(one, msgspec.Struct)
    }
    named = {one for one in parts if one.__name__.endswith(("Prediction", "Check", "Answer"))}

    assert named <= WHOLE.keys()


def test_parts_read_what_the_whole_says() -> None:
    data = msgspec.json.encode(ROW)
    graded, answer = projections.read_graded(data), projections.read_answer(data)
    judged, reviewed = projections.read_judged(data), projections.read_reviewed(data)

    assert (graded.place, graded.score, graded.is_passed) == ((7, 0), 0.5, True)
    assert projections.read_slice_values(graded.slices) == {"tags": ("a",)}
    assert graded.evaluator_scores[0].judge == "judge/a@1.0.0"
    assert (answer.is_answered, answer.model_response, answer.target) == (True, "4", "live")
    assert [bytes(one) for one in judged.messages] == [b'{"role":"assistant","content":"4"}']
    assert (reviewed.turns, [name for name, _, _ in reviewed.checks()]) == (1, ["right"])


def test_a_slice_that_a_project_has_redacted_is_one_group() -> None:
    data = msgspec.json.encode({**ROW, "slices": {"tags": "[redacted:tags]", "level": ["a"]}})
    groups = {"tags": ["[redacted:tags]"], "level": ["a"]}

    for read in (projections.read_judged, projections.read_reviewed):
        assert read(data).groups == groups


def test_a_record_without_a_trace_has_no_answer() -> None:
    assert not projections.read_answer(msgspec.json.encode(prediction_json())).is_answered
