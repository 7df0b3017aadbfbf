"""Answers and judgements as they are kept, and read back as they were."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fakes.targets import trace
from steelyard.engine.pending_rows import (
    answered_row,
    judgement_row,
    read_answered,
    read_judgement,
)
from steelyard.model.judgement import Judgement
from steelyard.model.run import PlannedRecord, Result

REPLY = Judgement(
    index=3,
    record_id="r3",
    repeat=1,
    key="verdict-1",
    check="right",
    judge="judge/fair@1.0.0",
    target="judge",
    fingerprint="f" * 64,
    item="kind",
    turn=2,
    sample=1,
    round=1,
    is_enforced=True,
    trace=replace(trace('{"value": 1}'), refusal="no", extra={"logprobs": [{"token": "1"}]}),
    attempts=2,
    cost_usd=0.25,
)
FAILURE = Judgement(
    index=None,
    record_id=None,
    repeat=0,
    key="verdict-2",
    check="",
    judge="judge/probe@1.0.0",
    target="judge",
    fingerprint="",
    error_code="timeout",
    message="too late",
    attempts=3,
)
ANSWERED = Result(
    index=3,
    record_id="r3",
    status="evaluated",
    target="t",
    repeat=1,
    trace=trace("At nine."),
    attempts=2,
    first_attempt_at="first",
    last_attempt_at="last",
    response_source="sampled",
    cost_usd=0.5,
    answer_key=b"\x00\xff",
    slices=(("tags", "a"),),
)


@pytest.mark.parametrize(
    "judgement",
    [REPLY, FAILURE, replace(REPLY, is_cached=True, saved_usd=0.25, cost_usd=None, attempts=0)],
)
def test_a_judgement_is_read_back_as_it_was(judgement: Judgement) -> None:
    assert read_judgement(json.dumps(judgement_row(judgement)).encode()) == judgement


def test_prompt_and_key_of_the_cache_are_kept_apart() -> None:
    row = judgement_row(replace(REPLY, prompt=(("user", "secret"),), cache_key=b"key"))

    assert "prompt" not in row
    assert "cache_key" not in row


@pytest.mark.parametrize("answered", [ANSWERED, replace(ANSWERED, answer_key=None, cost_usd=None)])
def test_an_answer_is_read_back_onto_what_the_dataset_tells(answered: Result) -> None:
    record = PlannedRecord(
        index=3,
        record_id="r3",
        target="t",
        repeat=1,
        response_source="prefilled",
        slices=(("tags", "a"),),
    )
    data = json.dumps(answered_row(answered)).encode()

    assert read_answered(data, record) == answered
