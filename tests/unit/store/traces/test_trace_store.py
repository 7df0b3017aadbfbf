"""Spans in the database: each once, in one trace of one set."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.audit import an_entry
from fakes.stores import open_store
from steelyard.errors import NotFoundError
from steelyard.model.audit import AuditEntry
from steelyard.model.trace_set import AddedSpans, NewSpan
from steelyard.store.audit_log import AuditStore
from steelyard.store.traces import added_spans, trace_store
from steelyard.store.traces.trace_store import TraceStore

pytestmark = pytest.mark.usefixtures("both_stores")


def entry(name: str) -> AuditEntry:
    return replace(an_entry(), verb="create_trace_set", subject=name)


def new(trace: str, span: str, name: str = "desk", *, is_named: bool = False) -> NewSpan:
    return NewSpan(
        trace_set=name,
        is_named=is_named,
        trace_id=trace,
        span_id=span,
        parent_id="p",
        start_ns=1,
        end_ns=2**63 - 1,
        row=b'{"name": "n"}',
    )


@pytest.fixture
def store(tmp_path: Path) -> TraceStore:
    engine = open_store(tmp_path / "steelyard.db")
    return TraceStore(lambda: engine)


def test_a_span_that_is_sent_again_is_not_stored_again(store: TraceStore) -> None:
    spans = [new("t1", "a"), new("t1", "b"), new("t2", "a")]

    assert store.add(spans, entry) == AddedSpans(3, 0, 0)
    assert store.add(spans, entry) == AddedSpans(0, 3, 0)
    assert store.add([new("t1", "c"), new("t1", "c")], entry) == AddedSpans(1, 1, 0)
    (found,) = store.sets()
    assert (found.name, found.traces, found.spans) == ("desk", 2, 4)


def test_batches_that_are_sent_at_once_are_stored_once(store: TraceStore) -> None:
    spans = [new(f"t{at % 7}", f"s{at}") for at in range(100)]
    threads = [threading.Thread(target=store.add, args=(spans, entry)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.find_set("desk").spans == 100
    assert sum(len(one.spans) for one in store.all("desk")) == 100


def test_a_trace_stays_where_its_first_span_went_unless_a_set_is_named(store: TraceStore) -> None:
    store.add([new("t1", "a", "front"), new("t1", "b", "back")], entry)
    store.add([new("t1", "c", "back"), new("t2", "a", "back")], entry)
    store.add([new("t1", "a", "mine", is_named=True)], entry)
    store.add([new("t1", "d", "back")], entry)

    assert {one.name: (one.traces, one.spans) for one in store.sets()} == {
        "front": (1, 4),
        "back": (1, 1),
        "mine": (1, 1),
    }


def test_a_new_set_is_logged_once(tmp_path: Path) -> None:
    engine = open_store(tmp_path / "steelyard.db")
    store = TraceStore(lambda: engine)
    for span in ("a", "b"):
        store.add([new("t1", span)], entry)

    logged = AuditStore(lambda: engine).list(10)
    assert [(one.verb, one.subject) for one in logged] == [("create_trace_set", "desk")]


@pytest.mark.parametrize(("limit", "most"), [("MAX_SPANS", 2), ("MAX_BYTES", 26)])
def test_a_trace_has_only_so_many_spans_and_bytes(
    store: TraceStore, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(added_spans, limit, most)
    spans = [new("t1", span) for span in "abc"]

    assert store.add(spans, entry) == AddedSpans(2, 0, 1)
    assert store.add(spans, entry) == AddedSpans(0, 2, 1)
    assert store.add([new("t2", "a")], entry) == AddedSpans(1, 0, 0)


def test_traces_are_read_in_the_order_of_their_arrival(store: TraceStore) -> None:
    store.add([new(f"t{at:03}", "a") for at in reversed(range(120))], entry)

    ids = [one.trace_id for one in store.all("desk")]
    assert ids == [f"t{at:03}" for at in reversed(range(120))]
    (first, second), is_last = store.page("desk", 0, 2)
    rest = store.page("desk", second.number, 118)
    assert [one.trace_id for one in rest.traces] == ids[2:]
    assert (is_last, rest.is_last) == (False, True)
    assert first.spans[0].row == {"name": "n"}
    assert first.spans[0].parent_id == "p"
    assert (first.spans[0].start_ns, first.spans[0].end_ns) == (1, 2**63 - 1)


def test_few_large_traces_are_read_at_once(
    store: TraceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([new(f"t{at}", "a") for at in range(5)], entry)
    monkeypatch.setattr(trace_store, "MOST_AT_ONCE", 2 * len(b'{"name": "n"}'))

    found, is_last = store.page("desk", 0, 5)
    assert ([one.trace_id for one in found], is_last) == (["t0", "t1"], False)
    monkeypatch.setattr(trace_store, "MOST_AT_ONCE", 1)
    assert [one.trace_id for one in store.all("desk")] == [f"t{at}" for at in range(5)]


def test_what_is_not_there_is_an_error(store: TraceStore) -> None:
    store.add([new("t1", "a")], entry)

    assert store.find("desk", "t1").trace_id == "t1"
    with pytest.raises(NotFoundError, match="no trace 't2'"):
        store.find("desk", "t2")
    with pytest.raises(NotFoundError, match="no trace set 'other'"):
        store.find_set("other")
