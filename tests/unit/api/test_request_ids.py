"""The ids of requests."""

from __future__ import annotations

import uuid

import pytest

from steelyard.api.request_ids import new_request_id, request_id_of


def test_new_ids_are_random_uuids() -> None:
    made = {new_request_id() for _ in range(1000)}
    read = {uuid.UUID(one) for one in made}

    assert len(read) == 1000
    assert {str(one) for one in read} == made
    assert {(one.version, one.variant) for one in read} == {(4, uuid.RFC_4122)}


VISIBLE = "".join(chr(code) for code in range(0x21, 0x7F))


@pytest.mark.parametrize(
    "given",
    [
        "a",
        "req_1:2.3-4",
        "x" * 200,
        "Zm9v/YmFy+eA==",
        "Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1",
        VISIBLE,
    ],
)
def test_a_usable_id_is_kept(given: str) -> None:
    assert request_id_of(given) == given


@pytest.mark.parametrize("given", [None, "", "a b", "a\n", "x" * 201, "é", "a\t", "a\x7f", " a"])
def test_any_other_is_replaced(given: str | None) -> None:
    assert uuid.UUID(request_id_of(given))
