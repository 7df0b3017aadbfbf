"""Files of traces, read into a set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.inspect_logs import sample, write_json, write_zip
from fakes.trace_sets import batch, sent_span, trace_project, write_lines
from steelyard.errors import InvalidError
from steelyard.usecases.traces.add_traces import AddedTraces, add_trace_file
from steelyard.usecases.traces.assembled_traces import AssembledTrace, every_trace

TRACE: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Write to jo.smith@example.org."},
        {"role": "assistant", "content": "Done."},
    ],
    "model": "m-1",
}


def added(path: Path, name: str = "mine") -> AddedTraces:
    with trace_project(path.parent) as project:
        return add_trace_file(project.trace_ports(), project.workspace, path, name)


def kept(path: Path, name: str = "mine") -> list[AssembledTrace]:
    with trace_project(path.parent) as project:
        return list(every_trace(project.trace_ports(), name))


def counts(made: AddedTraces) -> tuple[int, int, int]:
    return made.new, made.known, made.left_out


def test_traces_alone_are_read_and_redacted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", TRACE, {**TRACE, "model": "m-2"}, {"messages": 5})

    assert counts(added(path)) == (2, 0, 1)
    assert counts(added(path)) == (0, 2, 1)
    first, second = kept(path)
    assert first.trace is not None
    assert second.trace is not None
    assert first.trace.messages[0].text == "Write to [redacted:email]."
    assert (first.trace.model, second.trace.model) == ("m-1", "m-2")


def test_responses_are_read_with_their_records(tmp_path: Path) -> None:
    rows = [
        {"record_id": "q1", "candidate_name": "a", "trace": TRACE},
        {"record_id": "q1", "candidate_name": "b", "response_text": "Yes."},
        {"example_id": "q2", "error_code": "timeout", "message": "too slow"},
        {"record_id": "q3", "trace": {"messages": "x"}},
        {"question": "?"},
        {"record_id": "q4", "target": "echo", "status": "skipped", "trace": None},
        {"record_id": "q5", "target": "echo", "repeat": 0, "status": "evaluated", "trace": TRACE},
    ]
    (tmp_path / "r.json").write_text(json.dumps(rows), encoding="utf-8")
    made = added(tmp_path / "r.json")

    assert counts(made) == (4, 0, 3)
    places = [one.place for one in made.first_left_out]
    assert places == [f"r.json item {number}" for number in (4, 5, 6)]
    assert "neither 'messages'" in made.first_left_out[1].reason
    found = [one.row for one in kept(tmp_path / "r.json")]
    assert [row and row["record_id"] for row in found] == ["q1", "q1", "q2", "q5"]
    assert found[2] is not None
    assert (found[2]["message"], found[2]["trace"]) == ("too slow", {"messages": []})
    assert found[3] is not None
    assert found[3]["candidate_name"] == "echo"


def test_exports_of_spans_are_read_into_the_named_set(tmp_path: Path) -> None:
    exports = batch(sent_span(1, 1), sent_span(1, 2)), batch(sent_span(2, 1, trace="x"))
    path = write_lines(tmp_path / "s.jsonl", *exports)

    assert counts(added(path)) == (2, 0, 1)
    assert counts(added(path)) == (0, 2, 1)
    (found,) = kept(path)
    assert (found.spans, found.left_out) == (2, None)


@pytest.mark.parametrize(("write", "name"), [(write_json, "l.json"), (write_zip, "l.eval")])
def test_logs_of_inspect_are_read(tmp_path: Path, write: Any, name: str) -> None:
    path = write(tmp_path / name, sample(), sample(epoch=2), sample(id="q2"))

    assert counts(added(path)) == (3, 0, 0)
    assert counts(added(path)) == (0, 3, 0)
    assert [one.row and one.row["record_id"] for one in kept(path)] == ["q1", "q1", "q2"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("t.txt", "{}", "are read from"),
        ("t.jsonl", "", "holds no trace"),
        ("t.jsonl", '{"a": 1}\n', "holds no trace; line 1: this is no trace"),
        ("t.jsonl", '{"resourceSpans": []}\n', "holds no trace"),
    ],
)
def test_a_file_without_traces_is_an_error(
    tmp_path: Path, name: str, content: str, why: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    with pytest.raises(InvalidError, match=why):
        added(tmp_path / name)
    with pytest.raises(InvalidError, match="a trace set is called by"):
        added(tmp_path / name, "a b")


def test_what_a_hidden_field_of_a_trace_holds_is_in_no_place_of_it(tmp_path: Path) -> None:
    said = {**TRACE["messages"][0], "content": "I am Zaphod Beeblebrox.", "customer": 5}
    about = {"customer": "Zaphod Beeblebrox"}
    path = write_lines(tmp_path / "t.jsonl", {"messages": [said], "metadata": about})
    (tmp_path / "steelyard.yaml").write_text("redaction: {fields: [customer]}\n")

    assert counts(added(path)) == (1, 0, 0)
    files = [path for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()]
    assert [str(path) for path in files if b"Zaphod B" in path.read_bytes()] == []
