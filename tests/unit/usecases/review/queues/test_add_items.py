"""Records that somebody picks for a queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.review_source import ANN, BOB, RUN, QueueProject
from fakes.reviews import failed, says
from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.queue import QueueSource
from steelyard.usecases.judges.queue_people import LabelChoice, people_of_project
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.queues.add_items import add_items, queues_to_add_to
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    GivenAnswers,
    claim_item,
    submit_answers,
)
from steelyard.usecases.review.queues.create_queue import (
    Fill,
    NewQueue,
    create_queue,
    set_queue_status,
)
from steelyard.usecases.review.queues.queue_views import lead_view

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[QueueProject]:
    """A project with a judged run of four records."""
    made = QueueProject(tmp_path)
    yield made
    made.close()


def picked(project: QueueProject, *indices: int, reviews: int = 1) -> str:
    places = tuple((one, 0) for one in indices)
    return project.queue(by="picked", places=places, reviews=reviews)


def answer(project: QueueProject, queue: str, person: Annotator, value: int) -> None:
    found = claim_item(project.queue_ports, queue, person)
    assert found is not None
    claim = found.claim
    given = GivenAnswers(claim.token, claim.draft.revision, says(correct=value))
    submit_answers(project.queue_ports, claim.item.item_id, given, person)


def test_picked_records_have_no_chance_and_their_labels_have_none(project: QueueProject) -> None:
    queue = picked(project, 3, 1)
    answer(project, queue, ANN, 1)
    (kept,) = [one.row for one in project.ports.annotations.all(Wanted())]

    assert [(one.index, one.inclusion_prob) for one in project.items(queue)] == [
        (1, None),
        (3, None),
    ]
    assert "inclusion_prob" not in kept
    assert lead_view(project.queue_ports, queue).precision is None


def test_records_are_added_once_after_the_last(project: QueueProject) -> None:
    queue = picked(project, 1, reviews=2)
    found = add_items(project.queue_ports, queue, [(1, 0), (3, 0), (3, 0), (0, 0)])
    again = add_items(project.queue_ports, queue, [(0, 0)])

    assert (found.added, found.known, found.left_out) == (2, 1, 0)
    assert (again.added, again.known) == (0, 1)
    assert [(one.place, one.index) for one in project.items(queue)] == [(1, 1), (2, 0), (3, 3)]
    for person in (ANN, BOB):
        for _ in range(3):
            answer(project, queue, person, 1)
    assert lead_view(project.queue_ports, queue).counts.complete == 3


def test_a_drawn_queue_stays_as_it_was_drawn(project: QueueProject) -> None:
    queue = project.queue(size=2)

    with pytest.raises(ConflictError, match="'Desk' were drawn"):
        add_items(project.queue_ports, queue, [(0, 0)])
    assert queues_to_add_to(project.queue_ports, RUN) == []


def test_only_open_queues_of_picked_records_of_the_run_are_offered(project: QueueProject) -> None:
    first, second = picked(project, 1), picked(project, 2)
    set_queue_status(project.queue_ports, first, "closed")

    offered = [one.queue_id for one in queues_to_add_to(project.queue_ports, RUN)]

    assert offered == [second]
    assert queues_to_add_to(project.queue_ports, "run_2") == []
    with pytest.raises(ConflictError, match="closed"):
        add_items(project.queue_ports, first, [(0, 0)])


def test_records_without_a_response_are_left_out_and_counted(project: QueueProject) -> None:
    with (project.folder_of(RUN) / "predictions.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(failed(4)) + "\n")
    new = NewQueue(
        name="Two",
        source=QueueSource(kind="run", id=RUN),
        fill=Fill(by="picked", places=((0, 0), (4, 0))),
    )

    made = create_queue(project.queue_ports, new)

    assert (made.items, made.left_out, made.precision) == (1, 1, None)
    with pytest.raises(InvalidError, match="none of the records has a response"):
        picked(project, 4)


@pytest.mark.parametrize(
    ("fill", "error", "says"),
    [
        (Fill(by="picked"), InvalidError, "1 to 50,000 items, not 0"),
        (Fill(by="picked", places=((9, 0),)), NotFoundError, "no record 9 in run_1"),
        (Fill(by="picked", places=((1, 2),)), NotFoundError, r"no record 1 \(repeat 2\)"),
        (Fill(by="random", size=1, places=((1, 0),)), InvalidError, "only where they are picked"),
    ],
)
def test_a_wrong_pick_is_refused(
    project: QueueProject, fill: Fill, error: type[Exception], says: str
) -> None:
    new = NewQueue(name="Wrong", source=QueueSource(kind="run", id=RUN), fill=fill)

    with pytest.raises(error, match=says):
        create_queue(project.queue_ports, new)


def test_labels_of_picked_records_take_no_part_in_a_validation(project: QueueProject) -> None:
    drawn, other = project.queue(size=4), picked(project, 0, reviews=2)
    rubrics = KnownRubrics(project.ports.references)
    answer(project, other, ANN, 1)
    with pytest.raises(InvalidError, match="records that somebody picked"):
        people_of_project(project.ports.annotations, rubrics, LabelChoice(None, None))
    with pytest.raises(InvalidError, match="records that somebody picked"):
        people_of_project(project.ports.annotations, rubrics, LabelChoice(other, None))

    answer(project, other, BOB, 1)
    for _ in range(4):
        answer(project, drawn, ANN, 0)
    people = people_of_project(project.ports.annotations, rubrics, LabelChoice(None, None))

    assert all(one.drawn == {(drawn, 1.0)} for one in people.by_response.values())
    assert all(one.votes == {"ann": False} for one in people.by_response.values())
    assert (people.labels, people.picked, people.other_queues) == (6, 2, 0)
