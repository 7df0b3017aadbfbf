"""Trace sets that are deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.trace_sets import batch, sent_span, trace_project
from steelyard.errors import InvalidError, NotFoundError
from steelyard.usecases.traces.delete_trace_set import delete_trace_set
from steelyard.usecases.traces.freeze_traces import freeze_traces
from steelyard.usecases.traces.receive_spans import receive_spans


def test_nothing_of_a_deleted_set_is_left(tmp_path: Path) -> None:
    with trace_project(tmp_path) as project:
        ports = project.trace_ports()
        given = {
            "gen_ai.request.model": "m-1",
            "gen_ai.prompt": "a rare question",
            "x": "y" * 9000,
        }
        receive_spans(ports, batch(sent_span(1, 1, given)), None)
        receive_spans(ports, batch(sent_span(2, 1)), "other")
        freeze_traces(ports, "desk")
        delete_trace_set(ports, "desk")

        assert [one.name for one in ports.traces.sets()] == ["other"]
        assert [one.verb for one in project.audit_log.list(1)] == ["delete_trace_set"]
        files = [path for path in project.folder.rglob("*") if path.is_file()]
        assert not [path for path in files if b"a rare question" in path.read_bytes()]
        with pytest.raises(NotFoundError, match="no trace set 'desk'"):
            delete_trace_set(ports, "desk")
        with pytest.raises(InvalidError):
            delete_trace_set(ports, "..")


def test_spans_that_arrive_afterwards_make_a_new_set(tmp_path: Path) -> None:
    with trace_project(tmp_path) as project:
        ports = project.trace_ports()
        for _ in range(2):
            received = receive_spans(ports, batch(sent_span(1, 1)), None)
            assert received.new == 1
            delete_trace_set(ports, "desk")

        assert ports.traces.sets() == []
