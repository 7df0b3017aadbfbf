"""Trace sets graded by runs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from fakes.review_project import answers, label, write_review
from fakes.trace_sets import AGENT, CALL, batch, sent_span
from servers.run_service import write_project
from steelyard.errors import NotFoundError
from steelyard.event_loop import run_async
from steelyard.project import Project, open_project
from steelyard.results.manifest import RunSetup
from steelyard.usecases.judges.judge_traces import JudgedTraces, judge_traces
from steelyard.usecases.results.read_run import read_predictions, read_run
from steelyard.usecases.review.agreement import agreement
from steelyard.usecases.review.import_labels import LabelFile, import_labels
from steelyard.usecases.runs.derived_runs import regrade_options
from steelyard.usecases.runs.execute import create_run, execute_run
from steelyard.usecases.traces.receive_spans import receive_spans

RUBRIC = "rubric/found@1.0"


def judged(project: Project, rubric: str = RUBRIC) -> JudgedTraces:
    ports, runs = project.trace_ports(), project.run_ports()
    return run_async(lambda: judge_traces(ports, runs, "desk", rubric))


def executed(project: Project, run_id: str) -> Path:
    finished = run_async(lambda: execute_run(project.run_ports(), run_id, lambda _: None))
    return Path(finished.folder)


def setup(folder: Path) -> RunSetup:
    return read_run(folder).manifest.setup


@pytest.fixture
def project(tmp_path: Path) -> Project:
    write_project(tmp_path)
    made = open_project(tmp_path)
    said = {**CALL, "gen_ai.completion": "Nothing."}
    failed = sent_span(3, 1, AGENT, status={"code": 2, "message": "no answer"})
    sent = batch(sent_span(1, 1), sent_span(2, 1, said), failed, sent_span(3, 2))
    receive_spans(made.trace_ports(), sent, None)
    receive_spans(made.trace_ports(), batch(sent_span(4, 1, {"http.method": "GET"})), None)
    return made


def test_a_set_is_graded_by_a_sealed_run(project: Project) -> None:
    made = judged(project)
    folder = executed(project, made.run.run_id)
    rows = list(read_predictions(folder))

    assert made.frozen.records == 3
    assert made.frozen.left_out == {"no span of a generative model": 1}
    assert [(row.status, row.passed) for row in rows] == [
        ("evaluated", True),
        ("evaluated", False),
        ("evaluation_error", None),
    ]
    assert {row.response_source for row in rows[:2]} == {"prefilled"}
    assert setup(folder).dataset_id == "desk"
    project.run_folder(made.run.run_id)  # as it was sealed


def test_traces_that_arrive_later_are_in_the_next_run_alone(project: Project) -> None:
    first = judged(project)
    receive_spans(project.trace_ports(), batch(sent_span(5, 1)), None)
    second = judged(project)
    folders = [executed(project, one.run.run_id) for one in (first, second)]

    assert [len(list(read_predictions(folder))) for folder in folders] == [3, 4]
    versions = [setup(folder).dataset_version for folder in folders]
    assert versions[0] != versions[1]


def test_such_a_run_can_be_graded_again(project: Project) -> None:
    folder = executed(project, judged(project).run.run_id)
    options = regrade_options(folder, RUBRIC)
    again = run_async(lambda: create_run(project.run_ports(), options, in_place=True))
    rows = list(read_predictions(executed(project, again.run_id)))

    assert [row.passed for row in rows] == [True, False, None]


def test_a_missing_set_or_rubric_is_an_error(project: Project) -> None:
    with pytest.raises(NotFoundError, match="rubric/none@1"):
        judged(project, "rubric/none@1.0")
    ports, runs = project.trace_ports(), project.run_ports()
    with pytest.raises(NotFoundError, match="no trace set 'x'"):
        run_async(lambda: judge_traces(ports, runs, "x", RUBRIC))


def test_questions_are_answered_and_compared_with_people_as_in_any_run(tmp_path: Path) -> None:
    write_review(tmp_path)
    project = open_project(tmp_path)
    told = [{"role": "user", "content": "Question?"}, {"role": "assistant", "content": "Wait."}]
    for number in (1, 5):
        reply = [{"role": "assistant", "content": f"Answer number {number}."}]
        given = {
            **CALL,
            "gen_ai.input.messages": json.dumps(told),
            "gen_ai.output.messages": json.dumps(reply),
            "steelyard.record_id": f"r{number:02}",
        }
        receive_spans(project.trace_ports(), batch(sent_span(number, 1, given)), None)
    made = judged(project, "rubric/desk-v1")
    rows = list(read_predictions(executed(project, made.run.run_id)))
    said = [label(number, "ann", answers=answers(number, correct=1)) for number in (1, 5)]
    lines = "".join(json.dumps(row) + "\n" for row in said).encode()
    ports, run_id = project.review_ports(), made.run.run_id
    import_labels(ports, LabelFile(io.BytesIO(lines), "labels.jsonl"), run=run_id)
    (rubric,) = agreement(ports, run=run_id).rubrics
    judge = next(one.judge for one in rubric.questions if one.key == "correct")

    assert rows[0].evaluator_scores[0].answers == answers(1)
    assert judge is not None
    assert (judge.items, judge.estimates[0].value) == (2, 0.5)
