"""Batches of spans: which set they go to, what is rejected, and that nothing secret is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.trace_sets import AGENT, CALL, batch, sent_span, trace_ports
from steelyard.errors import InvalidError
from steelyard.usecases.traces.ports import TracePorts
from steelyard.usecases.traces.receive_spans import ReceivedSpans, receive_spans

pytestmark = pytest.mark.usefixtures("both_stores")
EMAIL, CARD, KEY = "jo.smith@example.org", "4111 1111 1111 1111", "sk-" + "a1B2c3D4" * 4


@pytest.fixture
def ports(tmp_path: Path) -> TracePorts:
    return trace_ports(tmp_path)


def names(ports: TracePorts) -> dict[str, int]:
    return {one.name: one.spans for one in ports.traces.sets()}


def test_spans_are_stored_once(ports: TracePorts) -> None:
    sent = batch(sent_span(1, 1, AGENT), sent_span(1, 2), sent_span(2, 1))

    assert receive_spans(ports, sent, None) == ReceivedSpans(3, 0, 0, "")
    assert receive_spans(ports, sent, None) == ReceivedSpans(0, 3, 0, "")
    assert names(ports) == {"desk": 3}


def test_the_set_is_the_named_one_or_that_of_the_resource_or_of_the_service(
    ports: TracePorts,
) -> None:
    receive_spans(ports, batch(sent_span(1, 1)), "named")
    receive_spans(ports, batch(sent_span(2, 1), steelyard__trace_set="told"), None)
    receive_spans(ports, batch(sent_span(3, 1), steelyard__trace_set="told"), "named")
    receive_spans(ports, batch(sent_span(4, 1), service__name="My agent: v2!"), None)
    receive_spans(ports, batch(sent_span(5, 1), service__name="???"), None)
    receive_spans(ports, batch(sent_span(6, 1), service__name=EMAIL), None)

    assert names(ports) == {
        "named": 2,
        "told": 1,
        "My-agent-v2": 1,
        "unknown_service": 1,
        "redacted-email": 1,
    }


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 101, "é"])
def test_a_set_must_have_a_name_that_can_be_one(ports: TracePorts, name: str) -> None:
    with pytest.raises(InvalidError, match="a trace set is called by"):
        receive_spans(ports, batch(sent_span(1, 1)), name)
    told = receive_spans(ports, batch(sent_span(1, 1), steelyard__trace_set=name or 5), None)

    assert (told.new, told.rejected) == (0, 1)


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ({"startTimeUnixNano": str(1 << 64)}, "from 0 to 2^64 - 1"),
        ({"startTimeUnixNano": "-1"}, "from 0 to 2^64 - 1"),
        ({"startTimeUnixNano": "9" * 400}, "from 0 to 2^64 - 1"),
        ({"endTimeUnixNano": "5"}, "must not end before it starts"),
        ({"endTimeUnixNano": 1.5}, "must not end before it starts"),
    ],
)
def test_impossible_times_are_rejected_and_the_others_are_stored(
    ports: TracePorts, times: dict[str, str], told: str
) -> None:
    unfinished = {**sent_span(1, 3), "endTimeUnixNano": "0"}
    wrong = {**sent_span(1, 2), **times}
    found = receive_spans(ports, batch(sent_span(1, 1), wrong, unfinished), None)

    assert (found.new, found.rejected) == (2, 1)
    assert told in found.message


@pytest.mark.parametrize(
    "ids",
    [
        {"trace": ""},
        {"trace": "0" * 32},
        {"trace": "a" * 31},
        {"trace": "g" * 32},
        {"span_id": ""},
        {"span_id": "0" * 16},
        {"span_id": "a" * 32},
        {"span_id": "W47/95gDgQM="},
    ],
)
def test_a_span_without_ids_is_rejected_and_the_others_are_stored(
    ports: TracePorts, ids: dict[str, Any]
) -> None:
    received = receive_spans(ports, batch(sent_span(1, 1, **ids), sent_span(1, 2)), None)

    assert (received.new, received.rejected) == (1, 1)
    assert received.message.startswith("1 span(s): ")
    assert names(ports) == {"desk": 1}


def test_a_batch_without_a_span_that_can_be_stored_makes_no_set(ports: TracePorts) -> None:
    assert receive_spans(ports, {}, None) == ReceivedSpans(0, 0, 0, "")
    assert receive_spans(ports, batch(sent_span(1, 1, trace="x")), None).rejected == 1
    assert names(ports) == {}


@pytest.mark.parametrize("time", ["x", None])
def test_times_that_are_no_numbers_are_unknown(ports: TracePorts, time: Any) -> None:
    receive_spans(ports, batch(sent_span(1, 1, endTimeUnixNano=time)), None)
    (found,) = ports.traces.all("desk")

    assert found.spans[0].end_ns == 0


def test_ids_that_look_like_numbers_of_cards_stay(ports: TracePorts) -> None:
    card = CARD.replace(" ", "")
    sent = batch(sent_span(1, 1, span_id=card), sent_span(1, 2, parent=card))
    receive_spans(ports, sent, None)
    receive_spans(ports, batch(sent_span(2, 1, parent=EMAIL)), None)
    both, odd = ports.traces.all("desk")

    assert {one.span_id: one.parent_id for one in both.spans}[f"{2:016x}"] == card
    assert odd.spans[0].parent_id == ""


@pytest.mark.sqlite
def test_nothing_secret_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_KEY", "correct-horse-battery")
    settings = 'targets: {live: {provider: openai, base_url: "http://h/v1", model: m, '
    (tmp_path / "steelyard.yaml").write_text(settings + "api_key_env: DESK_KEY}}\n")
    ports = trace_ports(tmp_path)
    secret = {
        **CALL,
        "gen_ai.prompt": f"I am {EMAIL}, my card is {CARD}.",
        "gen_ai.input.messages": f'[{{"role": "user", "content": "key {KEY}"}}]',
        "http.header": "Bearer correct-horse-battery",
        f"of {EMAIL}": "x",
        "nested": {"deep": [EMAIL, {"deeper": CARD}]},
        "number": int(CARD.replace(" ", "")),
    }
    receive_spans(
        ports,
        batch(
            sent_span(1, 1, secret, events=[{"name": "e", "attributes": []}], name=EMAIL),
            sent_span(1, 2, status={"code": 2, "message": f"failed for {EMAIL}"}),
            host__name="correct-horse-battery",
        ),
        None,
    )
    (found,) = ports.traces.all("desk")
    written = b"".join(
        path.read_bytes() for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()
    )

    assert len(found.spans) == 2
    for one in (EMAIL, CARD, CARD.replace(" ", ""), KEY, "correct-horse-battery"):
        assert one.encode() not in written
    assert b"[redacted:email]" in written


def test_what_a_hidden_field_of_a_span_holds_is_in_no_place_of_it(tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("redaction: {fields: [customer]}\n")
    ports = trace_ports(tmp_path)
    name = "Zaphod Beeblebrox"
    secret = {**CALL, "customer": name, "gen_ai.prompt": f"I am {name}."}
    receive_spans(ports, batch(sent_span(1, 1, secret, name=f"for {name}")), None)
    (found,) = ports.traces.all("desk")
    files = [path for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()]

    assert found.spans[0].row["name"] == "for [redacted:customer]"
    assert [str(path) for path in files if name.encode() in path.read_bytes()] == []
