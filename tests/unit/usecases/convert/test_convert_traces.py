"""Traces of other tools as a response file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.inspect_logs import sample, write_json, write_zip
from fakes.otel_spans import export, span
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.model.conversion import Conversion
from steelyard.project import open_project
from steelyard.targets.response_file import ResponseFile
from steelyard.usecases.convert.convert import ConvertOptions, convert

CALL: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.prompt": "Why?",
    "gen_ai.completion": "So.",
}


def converted(source: Path, made_from: str = "inspect", **more: Any) -> Conversion:
    asked: dict[str, Any] = {
        "to": "responses",
        "output": source.with_name("out.jsonl"),
        "made_from": made_from,
        **more,
    }
    options = ConvertOptions(source=source, **asked)
    return convert(open_project().convert_ports(force=options.force, show=lambda _: None), options)


def rows(source: Path) -> list[dict[str, Any]]:
    text = source.with_name("out.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def counts(made: Conversion) -> tuple[int, ...]:
    assert made.read == made.emitted + sum(rows.count for rows in made.unwritten)
    return made.read, made.emitted, *(made.count(o) for o in ("invalid", "skipped", "left_out"))


def write(path: Path, *exports: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in exports), encoding="utf-8")
    return path


def test_a_log_becomes_a_response_file_that_runs_read(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", sample(), sample(epoch=2), sample(id="q2"))
    made = converted(path)
    responses = ResponseFile(tmp_path / "out.jsonl")
    found = responses.rows("q1", "openai/m-1")
    responses.close()

    assert counts(made) == (3, 3, 0, 0, 0)
    assert (made.made_from, made.made_to) == ("inspect", "responses")
    assert made.files == (str(tmp_path / "out.jsonl"),)
    assert [row.get("repeat", 0) for row in found] == [0, 1]
    assert [changed.field for changed in made.fields] == ["scores", "events"]
    assert made.is_whole


def test_every_sample_is_written_or_told(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", sample(), sample(id=None), sample(messages=[7]))
    write_zip(tmp_path / "b.eval", sample(), sample(id="q2"), sample(id="q3", messages="x"))
    again = sample(messages=[{"role": "assistant", "content": "Two weeks."}])
    write_json(tmp_path / "c.json", again, sample(id="bad", output={"model": 7}), status="error")
    made = converted(tmp_path, output=tmp_path / "r" / "out.jsonl")

    assert counts(made) == (8, 3, 3, 1, 1)
    assert {rows.reason for rows in made.unwritten} == {
        "the sample has no id",
        "a message must be an object",
        "no trace: model must be null or a string",
        "the same row again",
        "another answer of the same candidate to the same record; convert one run at a time",
    }
    assert "status" in {changed.field for changed in made.fields}
    assert not made.is_whole


def test_spans_become_one_row_a_trace(tmp_path: Path) -> None:
    path = write(
        tmp_path / "spans.jsonl",
        export(
            span({**CALL, "steelyard.record_id": "q2"}, trace="b", start=2_000),
            span({"http.method": "GET"}, trace="c"),
        ),
        export(span({**CALL, "steelyard.record_id": "q1"}, trace="a", start=1_000)),
        export(span({"gen_ai.operation.name": "chat"}, trace="d")),
        {"resourceLogs": []},
    )
    with path.open("a", encoding="utf-8") as stream:
        stream.write("no json\n")
    made = converted(path, "otel")

    assert counts(made) == (6, 2, 2, 1, 1)
    assert [row["record_id"] for row in rows(path)] == ["q1", "q2"]


def test_the_verdict_of_an_evaluator_is_left_out_and_reported(tmp_path: Path) -> None:
    verdict = {**CALL, "gen_ai.completion": "VERDICT: fail"}
    path = write(
        tmp_path / "spans.json",
        export(
            span({**CALL, "gen_ai.completion": "At nine."}, span_id="1"),
            span({"openinference.span.kind": "EVALUATOR"}, span_id="2", parent="1"),
            span(verdict, span_id="3", parent="2", start=3 * 10**9),
        ),
    )
    made = converted(path, "otel")

    said = rows(path)[0]["trace"]["messages"]
    assert [one["content"] for one in said if one["role"] == "assistant"] == ["At nine."]
    assert [(one.field, one.is_lost, one.count) for one in made.fields] == [("verdicts", True, 1)]


def test_a_further_trace_of_a_record_is_a_repeat(tmp_path: Path) -> None:
    spans = [
        span({**CALL, "case": "q1", "gen_ai.completion": text}, trace=text, start=start)
        for start, text in enumerate(("one", "two", "three"), start=1)
    ]
    path = write(tmp_path / "spans.json", export(*spans))
    made = converted(path, "otel", names={"record_id": "case"})

    assert counts(made) == (3, 3, 0, 0, 0)
    assert [row.get("repeat", 0) for row in rows(path)] == [0, 1, 2]
    ResponseFile(tmp_path / "out.jsonl").close()


def test_a_document_may_be_a_list_of_exports(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    path.write_text(json.dumps([export(span(CALL)), 7]), encoding="utf-8-sig")

    assert counts(converted(path, "otel")) == (2, 1, 1, 0, 0)


def test_all_exports_of_a_folder_are_read(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", export(span(CALL, trace="a", span_id="1", start=1)))
    write(tmp_path / "b.json", export(span(CALL, trace="b", start=2)))
    (tmp_path / "c.csv").write_text("a,b\n", encoding="utf-8")

    assert counts(converted(tmp_path, "otel", output=tmp_path / "r.jsonl"))[:2] == (2, 2)


def test_a_result_can_go_to_stdout(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", sample())
    shown: list[bytes] = []
    options = ConvertOptions(source=path, to="responses", output=None, made_from="inspect")
    made = convert(open_project().convert_ports(force=False, show=shown.append), options)

    assert made.files == ()
    assert json.loads(b"".join(shown))["record_id"] == "q1"


def test_nothing_is_written_where_no_trace_can_be(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", sample(id=None))
    made = converted(path)

    assert (made.emitted, made.files) == (0, ())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.json"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            {"made_from": None},
            "needs `made_from` openai-evals, lm-eval, inspect, otel, agentv",
        ),
        (
            {"made_from": "csv"},
            "needs `made_from` openai-evals, lm-eval, inspect, otel, agentv",
        ),
        ({"split": "test"}, "`split` and `flatten` are for datasets"),
        ({"flatten": True}, "`split` and `flatten` are for datasets"),
        ({"names": {"record_id": "x"}}, "the fields of inspect are known"),
        ({"made_from": "otel", "names": {"id": "x"}}, "`names` id=…"),
        ({"output": Path("out.json")}, r"responses are written to \.jsonl"),
        ({"to": "eval_cases", "made_from": "otel"}, "holds no cases; `to` may be responses"),
        ({"to": "response"}, "did you mean 'responses'"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(
    tmp_path: Path, more: dict[str, Any], told: str
) -> None:
    path = write_json(tmp_path / "log.json", sample())

    with pytest.raises(RequestError, match=told):
        converted(path, **{"made_from": "inspect", **more})


def test_an_existing_file_is_written_over_by_force_alone(tmp_path: Path) -> None:
    path = write_json(tmp_path / "log.json", sample())
    converted(path)

    with pytest.raises(RequestError, match="exists; `force` writes over it"):
        converted(path)
    assert converted(path, force=True).emitted == 1


def test_what_is_no_export_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "spans.csv"
    text.write_text("a,b\n", encoding="utf-8")
    broken = tmp_path / "spans.json"
    broken.write_text("{\n[", encoding="utf-8")

    with pytest.raises(RequestError, match=r"files that end in \.json, \.jsonl, \.ndjson"):
        converted(text, "otel")
    with pytest.raises(UnreadableFileError, match=r"spans\.json:2: "):
        converted(broken, "otel")
    with pytest.raises(NotFoundError):
        converted(tmp_path / "none.json", "otel")
    monkeypatch.setattr("steelyard.usecases.convert.source_records._MAX_JSON", 1)
    with pytest.raises(UnreadableFileError, match="larger than 1 GB"):
        converted(broken, "otel")


def test_the_samples_of_logs_become_a_dataset(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", sample(), sample(epoch=2), sample(id="q2", choices=["a", "b"]))
    write_zip(tmp_path / "b.eval", sample(id="q3", input=""))
    made = converted(tmp_path, to="eval_cases", output=tmp_path / "c.yaml")
    text = (tmp_path / "c.yaml").read_text(encoding="utf-8")

    assert counts(made) == (4, 1, 1, 1, 1)
    assert text.startswith("dataset: loans\n")
    assert "three weeks" in text


def test_choices_are_written_as_legal_eval(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", sample(choices=["a", "b"], target="B"))
    made = converted(path, to="legal_eval")

    assert made.emitted == 1
    assert rows(path)[0]["correct_choice_ids"] == ["B"]


def test_columns_are_not_named_for_samples(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", sample())

    with pytest.raises(RequestError, match="`names` is for tables"):
        converted(path, to="eval_cases", output=tmp_path / "c.yaml", names={"id": "x"})
