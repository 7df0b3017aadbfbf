"""Items that were answered under an older wording are asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.review_project import QUESTIONS
from fakes.review_source import ANN, BOB, QueueProject, queue_ports
from fakes.reviews import says
from steelyard.errors import InvalidError
from steelyard.usecases.review.queues.annotating import GivenAnswers, claim_item, submit_answers
from steelyard.usecases.review.queues.create_queue import queue_again
from steelyard.usecases.review.queues.queue_views import lead_view

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[QueueProject]:
    """A project with a judged run, and questions that only a test publishes."""
    made = QueueProject(tmp_path)
    yield made
    made.close()


def answer(project: QueueProject, queue: str, items: int) -> None:
    for _ in range(items):
        found = claim_item(project.queue_ports, queue, ANN)
        assert found is not None
        given = GivenAnswers(found.claim.token, 0, says(correct=1))
        submit_answers(project.queue_ports, found.claim.item.item_id, given, ANN)


def version(project: QueueProject, name: str, status: str = "published") -> None:
    """Write another version of the questions; the ports read it."""
    label = f"Is it right, by {name}?"
    first: dict[str, Any] = {**QUESTIONS["questions"][0], "label": label}
    questions = [first, *QUESTIONS["questions"][1:]]
    text = json.dumps({**QUESTIONS, "version": name, "status": status, "questions": questions})
    project.write(f"rubrics/{name}.json", text)
    project.queue_ports = queue_ports(project)


def test_a_newer_version_asks_the_answered_items_again(project: QueueProject) -> None:
    queue = project.queue(size=4, by="near_threshold", reviews=2, instructions="Read.")
    answer(project, queue, 3)
    before = lead_view(project.queue_ports, queue)
    for name in ("desk-v2", "desk-v10"):
        version(project, name)
    version(project, "desk-v11", "draft")
    version(project, "table-v12")
    view = lead_view(project.queue_ports, queue)
    made = queue_again(project.queue_ports, queue, view.newer)

    assert (before.newer, before.older) == (None, ())
    assert (view.newer, view.outdated) == ("rubric/desk-v10", ())
    old = project.items(queue)[:3]
    assert view.older == tuple(one.item_id for one in old)
    new = project.items(made.queue.queue_id)
    assert [(one.record_id, one.inclusion_prob) for one in new] == [
        (one.record_id, one.inclusion_prob) for one in old
    ]
    assert (made.queue.rubric, made.queue.reviews_required) == ("rubric/desk-v10", 2)
    assert (made.queue.name, made.queue.instructions) == ("Desk (again)", "Read.")
    assert lead_view(project.queue_ports, queue).older == ()
    assert claim_item(project.queue_ports, made.queue.queue_id, BOB) is not None


def test_a_queue_whose_answers_are_up_to_date_is_not_asked_again(project: QueueProject) -> None:
    queue = project.queue(size=4)
    answer(project, queue, 2)

    with pytest.raises(InvalidError, match="no item of queue_"):
        queue_again(project.queue_ports, queue, None)
