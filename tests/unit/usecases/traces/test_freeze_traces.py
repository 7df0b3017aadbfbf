"""The traces of a set as files that a run reads."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from fakes.trace_sets import AGENT, CALL, batch, hexadecimal, sent_span, trace_ports
from steelyard.errors import InvalidError, NotFoundError
from steelyard.usecases.traces import freeze_traces as module
from steelyard.usecases.traces.freeze_traces import FrozenTraces, freeze_traces
from steelyard.usecases.traces.ports import TracePorts
from steelyard.usecases.traces.receive_spans import receive_spans


def sent(ports: TracePorts, trace: int, **named: Any) -> None:
    given = {**CALL, **{name.replace("__", "."): value for name, value in named.items()}}
    receive_spans(ports, batch(sent_span(trace, 1, given)), None)


def records(frozen: FrozenTraces) -> list[dict[str, Any]]:
    return json.loads(frozen.dataset.read_text(encoding="utf-8"))["records"]


def responses(frozen: FrozenTraces) -> list[dict[str, Any]]:
    lines = frozen.responses.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_trace_is_a_record_and_a_response(tmp_path: Path) -> None:
    ports = trace_ports(tmp_path)
    sent(ports, 1, gen_ai__conversation__id="c-1")
    sent(ports, 2, steelyard__record_id="q-7", gen_ai__conversation__id="c-1")
    sent(ports, 3, steelyard__record_id="q-7", gen_ai__conversation__id="c-2")
    receive_spans(ports, batch(sent_span(4, 1, {"http.method": "GET"})), None)
    frozen = freeze_traces(ports, "desk")

    assert (frozen.records, frozen.are_grouped) == (3, True)
    assert frozen.left_out == {"no span of a generative model": 1}
    ids = [hexadecimal(1, 32), "q-7", "q-7 (2)"]
    assert [one["record_id"] for one in records(frozen)] == ids
    assert [one["record_id"] for one in responses(frozen)] == ids
    assert records(frozen)[0] == {
        "record_id": ids[0],
        "input": {"prompt": "Say a word."},
        "metadata": {"trace_id": ids[0], "model": "m-1", "conversation_id": "c-1"},
    }
    assert {one["candidate_name"] for one in responses(frozen)} == {"desk"}
    assert responses(frozen)[0]["trace"]["messages"][1]["content"] == "A word."


def test_equal_traces_make_equal_files_and_others_other_ones(tmp_path: Path) -> None:
    ports = trace_ports(tmp_path)
    sent(ports, 1)
    first, again = freeze_traces(ports, "desk"), freeze_traces(ports, "desk")
    sent(ports, 2)
    later = freeze_traces(ports, "desk")

    assert first == again
    assert first.dataset != later.dataset
    assert len(records(first)) == 1
    assert not first.are_grouped
    assert stat.S_IMODE(first.dataset.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.dataset.parent.stat().st_mode) == 0o700


def test_prompts_and_ids_fit_a_dataset_document(tmp_path: Path) -> None:
    ports = trace_ports(tmp_path)
    sent(ports, 1, gen_ai__prompt="\x00a\x1bb\n" + "é" * 60_000, steelyard__record_id="r" * 300)
    receive_spans(ports, batch(sent_span(2, 1, {**CALL, "gen_ai.prompt": ""})), None)
    first, second = records(freeze_traces(ports, "desk"))

    assert first["input"]["prompt"].startswith("ab\né")
    assert len(json.dumps(first, ensure_ascii=False).encode()) < 256 * 1024
    assert first["record_id"] == hexadecimal(1, 32)
    assert second["input"]["prompt"] == "[the trace has no message of a user]"


def test_a_trace_that_failed_is_a_recorded_failure(tmp_path: Path) -> None:
    ports = trace_ports(tmp_path)
    failed = sent_span(1, 1, AGENT, status={"code": 2, "message": "no answer"})
    receive_spans(ports, batch(failed, sent_span(1, 2)), None)
    (row,) = responses(freeze_traces(ports, "desk"))

    assert (row["error_code"], row["message"]) == ("target_error", "no answer")


def test_a_set_without_anything_to_grade_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = trace_ports(tmp_path)
    with pytest.raises(NotFoundError, match="no trace set 'desk'"):
        freeze_traces(ports, "desk")
    receive_spans(ports, batch(sent_span(4, 1, {"http.method": "GET"})), None)
    with pytest.raises(InvalidError, match=r"no trace of 'desk' can be graded \(1: no span"):
        freeze_traces(ports, "desk")
    sent(ports, 1)
    monkeypatch.setattr(module, "MAX_TRACES", 0)
    with pytest.raises(InvalidError, match="more than 0 traces"):
        freeze_traces(ports, "desk")
    assert not list(tmp_path.rglob("*.part"))
