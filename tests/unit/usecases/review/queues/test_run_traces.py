"""The responses of a run, as a source of review queues."""

from __future__ import annotations

from pathlib import Path

import pytest

from servers.review_service import make_review_run
from steelyard import evaluate
from steelyard.errors import InvalidError, NotFoundError
from steelyard.model.labels.queue import QueueSource
from steelyard.project import open_project
from steelyard.usecases.review.labels import KnownRubrics

pytestmark = pytest.mark.usefixtures("both_stores")


def test_a_response_is_found_in_another_run_over_the_same_recording(tmp_path: Path) -> None:
    first = make_review_run(tmp_path)
    with open_project(tmp_path) as project:
        again = evaluate(
            tmp_path / "desk.json", target="desk", rubric="rubric/outer@1.0.0", project=project
        )
        ports = project.queue_ports()
        here = ports.source(QueueSource(kind="run", id=first)).content(3, 0)
        there = ports.source(QueueSource(kind="run", id=again.run_id))

        assert list(there.holding(here, 3)) == [3]
        assert list(there.holding(here._replace(messages=[]), 3)) == []
        assert list(there.holding(here._replace(record_sha256="0"), 3)) == []
        assert list(there.holding(here._replace(record_id=None), 3)) == []


def test_a_nested_question_rubric_is_found(tmp_path: Path) -> None:
    run_id = make_review_run(tmp_path, rubric="rubric/outer@1.0.0")
    with open_project(tmp_path) as project:
        ports = project.queue_ports()
        rubric = KnownRubrics(ports.review.references).questions("desk-v1")
        assert rubric is not None
        source = ports.source(QueueSource(kind="run", id=run_id[:-2]))

        assert source.ids == (run_id,)
        assert source.default_rubric() == "rubric/outer@1.0.0"
        (judged,) = source.judged(rubric, 1, 0)
        assert judged.answers["trace"] == {
            "correct": 1,
            "quality": 2,
            "tone": "warm",
            "issues": ["slow"],
        }
        assert source.show(1, 0).turns == 2
        with pytest.raises(NotFoundError, match="no response"):
            source.show(39, 0)
        with pytest.raises(InvalidError, match="from runs"):
            ports.source(QueueSource(kind="trace_set", id="set_1"))
