"""What metrics need to know of a result."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import msgspec

from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.run import Result
from steelyard.model.trace import Trace, Usage
from steelyard.model.verdict import CheckResult, Verdict
from steelyard.results.facts import CheckFact, Facts, facts_of, read_facts

GRADED = Result(
    index=3,
    record_id="q3",
    status="evaluated",
    repeat=1,
    trace=Trace(
        messages=(Message(role="assistant", content="4"),),
        usage=Usage(input_tokens=7, output_tokens=1),
        latency_ms=12.5,
    ),
    verdict=Verdict(
        status="evaluated",
        results=(
            CheckResult(check="right", kind="equals", outcome=Outcome.failing("no")),
            CheckResult(check="quick", kind="latency", outcome=Outcome.skipped("no limit")),
        ),
        score=0.25,
        raw_score=-0.5,
        passed=False,
    ),
    attempts=2,
    cost_usd=0.1,
    slices=(("tags", "a"), ("task_type", None)),
    cluster="talk-1",
)
KNOWN = Facts(
    index=3,
    repeat=1,
    status="evaluated",
    attempts=2,
    answered=True,
    score=0.25,
    raw_score=-0.5,
    passed=False,
    latency_ms=12.5,
    input_tokens=7,
    output_tokens=1,
    cost_usd=0.1,
    cluster=hashlib.blake2b(b"talk-1", digest_size=8).hexdigest(),
    slices=(("tags", "a"), ("task_type", None)),
    checks=(
        CheckFact("right", "equals", "scored", 0.0, False),
        CheckFact("quick", "latency", "skipped", None, None),
    ),
)


def test_the_facts_of_a_graded_result_are_these() -> None:
    assert facts_of(GRADED) == KNOWN


def test_a_result_without_an_answer_has_no_numbers() -> None:
    facts = facts_of(Result(index=0, record_id=None, status="invalid_record"))

    assert facts == Facts(
        index=0,
        repeat=0,
        status="invalid_record",
        attempts=0,
        answered=False,
        score=None,
        raw_score=None,
        passed=None,
        latency_ms=None,
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
        cluster=None,
        slices=(),
        checks=(),
    )


def test_facts_are_read_as_they_were_kept() -> None:
    assert read_facts(msgspec.json.encode(KNOWN)) == KNOWN


def test_details_of_a_check_may_hold_anything_under_results() -> None:
    outcome = Outcome(passed=True, score=1.0, reason="", details={"results": ["a", 3]})
    verdict = Verdict(
        status="evaluated",
        results=(CheckResult(check="own", kind="plugin", outcome=outcome),),
        score=1.0,
        passed=True,
    )

    assert "own" in str(facts_of(replace(GRADED, verdict=verdict)))
