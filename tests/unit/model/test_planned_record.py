"""What is known of a record before its target is asked, and the result it comes to."""

from __future__ import annotations

from dataclasses import fields

from msgspec.structs import replace

from steelyard.model.run import Asking, PlannedRecord, Result

PLANNED = PlannedRecord(
    index=3,
    record_id="r3",
    record_sha256="ab",
    target="live",
    repeat=1,
    first_attempt_at="then",
    response_source="sampled",
    copied_attempts=2,
    slices=(("tags", "a"),),
    cluster="talk",
    asking=Asking(messages=(), sha256="cd"),
    private=(("customer", "Zaphod Beeblebrox"),),
)


def test_it_says_nothing_of_what_becomes_of_the_record() -> None:
    known = {field.name for field in fields(PlannedRecord)}

    assert known < {field.name for field in fields(Result)}
    assert not known & {"status", "trace", "verdict", "attempts", "label", "cost_usd"}


def test_a_result_has_all_that_was_known_before() -> None:
    result = PLANNED.result("timeout")

    assert result.status == "timeout"
    for field in fields(PlannedRecord):
        assert getattr(result, field.name) == getattr(PLANNED, field.name)


def test_a_claim_names_it_without_what_its_fields_hide() -> None:
    named = replace(PLANNED, record_id="of Zaphod Beeblebrox")

    assert named.claimed_id == "of [redacted:customer]"
    assert PLANNED.claimed_id == "r3"
    assert replace(named, record_id=None).claimed_id is None
