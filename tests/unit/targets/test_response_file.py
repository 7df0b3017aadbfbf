"""A file of responses is found by record, in memory that does not grow with its texts."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import ConfigError
from steelyard.targets.response_file import ResponseFile


def row(record: str = "q1", text: str = "nine", **fields: Any) -> dict[str, Any]:
    return {"record_id": record, "response_text": text, **fields}


def written(path: Path, rows: Iterable[object]) -> Path:
    """The rows as JSONL, or as a JSON list, as the name demands."""
    listed = list(rows)
    lines = "".join(json.dumps(item) + "\n" for item in listed)
    text = json.dumps(listed, indent=2) if path.suffix == ".json" else lines
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(params=["r.jsonl", "r.json"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where responses go, in either form."""
    return tmp_path / str(request.param)


def texts(responses: ResponseFile, record: str, candidate: str = "") -> list[Any]:
    return [row["response_text"] for row in responses.rows(record, candidate)]


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        ResponseFile(path)
    return str(caught.value)


def test_finds_the_rows_of_a_record_in_the_order_of_the_file(path: Path) -> None:
    rows = [row("a", "1", repeat=1), row("b", "2"), row("a", "0", repeat=0)]
    responses = ResponseFile(written(path, rows))

    assert texts(responses, "a") == ["1", "0"]
    assert texts(responses, "b") == ["2"]
    assert texts(responses, "c") == []
    responses.close()


def test_keeps_candidates_apart_and_counts_their_rows(path: Path) -> None:
    rows = [
        row("a", "x", candidate_name="x"),
        row("a", "y", candidate_name="y"),
        row("b", "x", candidate_name="x"),
    ]
    responses = ResponseFile(written(path, rows))

    assert responses.candidates == {"x": 2, "y": 1}
    assert texts(responses, "a", "y") == ["y"]
    responses.close()


@pytest.mark.parametrize(
    "made",
    [
        {"example_id": "q1", "response_text": "nine"},
        {"record_id": "q1", "response_text": "nine", "candidate_name": None},
        {"record_id": "q1", "response_text": "nine", "repeat": None, "attempt": None},
    ],
)
def test_knows_the_other_ways_to_write_a_row(path: Path, made: dict[str, Any]) -> None:
    responses = ResponseFile(written(path, [made]))

    assert texts(responses, "q1") == ["nine"]
    responses.close()


def test_the_predictions_of_a_run_are_responses_under_the_name_of_its_target(path: Path) -> None:
    def prediction(record: str | None, status: str) -> dict[str, Any]:
        trace: object = {"messages": ()} if status == "evaluated" else None
        shared = {"target": "live", "repeat": 0, "evaluator_scores": ()}
        return {"record_id": record, "status": status, "trace": trace, **shared}

    rows = [prediction("a", "evaluated"), prediction("b", "timeout")]
    never = [prediction(None, "invalid_record"), prediction("c", "skipped")]
    responses = ResponseFile(written(path, [*never, *rows]))

    assert responses.candidates == {"live": 2}
    assert len(responses.rows("b", "live")) == 1
    assert responses.rows("c", "live") == []
    responses.close()


@pytest.mark.parametrize(
    "data",
    [
        b'\xef\xbb\xbf{"record_id": "q1", "response_text": "nine"}\n',
        b'\xef\xbb\xbf\n{"record_id": "q1", "response_text": "nine"}\n',
        b'\xef\xbb\xbf  [{"record_id": "q1", "response_text": "nine"}]',
        b'\n\n  \r\n{"record_id": "q1", "response_text": "nine"}',
        b'{"record_id": "q1", "response_text": "nine"}\r\n\r\n',
    ],
)
def test_a_byte_order_mark_and_blank_lines_do_not_matter(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "r").write_bytes(data)
    responses = ResponseFile(tmp_path / "r")

    assert texts(responses, "q1") == ["nine"]
    responses.close()


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(b'{"record_id": "q1", "response_text": "nine \\ud83d"}\n')
    responses = ResponseFile(tmp_path / "r")

    assert texts(responses, "q1") == ["nine \ufffd"]
    responses.close()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"record_id": "a", "response_text": "x"}\n{"record_id": \n', "r:2: invalid JSON"),
        (b'{"record_id": "a", "response_text": "x"}\n\n{"re', "r:3: invalid JSON"),
        (b"{'record_id': 'a'}\n", "r:1: invalid JSON"),
        (b'{"record_id": "\xff"}\n', "r:1: invalid JSON: not UTF-8"),
        (b'[\n{"record_id": "a", "response_text": "x"},\n{"record_id": }\n]', "r:3: invalid JSON"),
        (b"[[", "r:1: invalid JSON"),
        (b"", "r holds no responses"),
        (b"\n\n", "r holds no responses"),
        (b"[]", "r holds no responses"),
    ],
)
def test_a_file_that_is_broken_is_told_with_its_line(
    tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "r").write_bytes(data)

    assert said in refused(tmp_path / "r")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("nine", "a response must be an object"),
        ({"response_text": "x"}, "missing record_id"),
        ({"record_id": None, "response_text": "x"}, "missing record_id"),
        (row() | {"record_id": 7}, "record_id must be a text"),
        (row(candidate_name=7), "candidate_name must be a text"),
        (row(repeat=-1), "repeat must be a whole number from 0"),
        (row(repeat="0"), "repeat must be a whole number from 0"),
        (row(attempt=0), "attempt must be a whole number from 1"),
        (row(attempt=True), "attempt must be a whole number from 1"),
        (row(latency_ms="fast"), "latency_ms must be a number"),
        ({"record_id": "q1"}, "neither response_text, trace nor error_code"),
        ({"record_id": "q1", "trace": None}, "neither response_text, trace nor error_code"),
        ({"record_id": "q1", "error_code": 503}, "neither response_text, trace nor error_code"),
    ],
)
@pytest.mark.parametrize(("name", "place"), [("r.jsonl", "r.jsonl:2"), ("r.json", "r.json[1]")])
def test_a_row_that_is_no_response_is_told_with_its_place(
    tmp_path: Path, wrong: object, said: str, name: str, place: str
) -> None:
    assert refused(written(tmp_path / name, [row("a"), wrong])).endswith(f"{place}: {said}")


@pytest.mark.parametrize("more", [{}, {"repeat": 1}, {"attempt": 2}, {"candidate_name": "x"}])
def test_a_second_row_for_the_same_try_is_refused(tmp_path: Path, more: dict[str, Any]) -> None:
    rows = [row("a", "one", **more), row("b"), row("a", "two", **more)]
    said = refused(written(tmp_path / "r.jsonl", rows))

    assert "r.jsonl:3: a second response" in said
    assert "to 'a'" in said
    assert "further ones need their own repeat or attempt" in said


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert refused(tmp_path / "no").endswith("no: No such file or directory")


class Colliding(ResponseFile):
    """Every record has the same mark, as two may have by chance."""

    @staticmethod
    def _mark(key: tuple[Any, ...]) -> int:  # noqa: ARG004
        return 7


def test_records_with_the_same_mark_are_told_apart_by_their_ids(path: Path) -> None:
    names = [f"r{number}" for number in range(50)]
    responses = Colliding(written(path, [row(name, name.upper()) for name in names]))

    assert all(texts(responses, name) == [name.upper()] for name in names)
    assert texts(responses, "r50") == []
    responses.close()


@pytest.mark.trials
def test_ten_thousand_rows_take_little_memory(tmp_path: Path) -> None:
    rows = (row(f"record-{number}", "x" * 200) for number in range(10_000))
    path = written(tmp_path / "r.jsonl", rows)
    tracemalloc.start()
    responses = ResponseFile(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held < 10_000 * 40
    assert peak < 2_000_000
    assert responses.candidates == {"": 10_000}
    assert texts(responses, "record-9999") == ["x" * 200]
    responses.close()


def predicted(index: int, name: str | None, **more: Any) -> dict[str, Any]:
    """A row of a run's predictions."""
    answered: dict[str, Any] = {
        "status": "evaluated",
        "evaluator_scores": [],
        "trace": {"messages": []},
    }
    return {"index": index, "record_id": name, "target": "t", **answered, **more}


def test_predictions_may_share_an_id_or_have_none_since_their_places_differ(path: Path) -> None:
    rows = [predicted(0, "same"), predicted(1, "same"), predicted(2, None)]
    responses = ResponseFile(written(path, [*rows, predicted(2, None, repeat=1)]))
    found = [len(responses.placed(index, "t")) for index in (0, 1, 2, 3, None)]

    assert found == [1, 1, 2, 0, 0]
    assert len(responses.rows("same", "t")) == 2
    assert responses.candidates == {"t": 4}
    responses.close()


def test_a_second_prediction_of_one_place_is_refused(path: Path) -> None:
    said = refused(written(path, [predicted(7, "a"), predicted(7, "b")]))

    assert "a second response of 't' to record 7 with repeat 0 and attempt 1" in said


@pytest.mark.parametrize("index", [None, "0", 1.5, True])
def test_a_prediction_without_a_place_needs_its_id(path: Path, index: object) -> None:
    row = {**predicted(0, None), "index": index}

    assert "missing record_id" in refused(written(path, [row]))
