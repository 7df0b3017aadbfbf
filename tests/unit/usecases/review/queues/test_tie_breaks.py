"""One more person answers what others are divided on: for the majority, not for the agreement."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.old_stores import take_back_to_17
from fakes.review_source import ANN, BOB, RUN, QueueProject, queue_ports
from fakes.reviews import DESK, says
from steelyard.model.labels.annotation import Wanted
from steelyard.model.statistics.agreement import AgreementSide
from steelyard.review.agreement import PICKED, TIE_BREAKS
from steelyard.store.database import open_database
from steelyard.usecases.judges.label_sets import people_of
from steelyard.usecases.judges.tied_items import ask_about_ties
from steelyard.usecases.review.agreement import agreement
from steelyard.usecases.review.export_labels import export_labels
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    GivenAnswers,
    claim_item,
    submit_answers,
)
from steelyard.usecases.review.queues.create_queue import raise_reviews
from steelyard.usecases.review.queues.queue_agreement import queue_agreement
from steelyard.usecases.review.queues.queue_views import lead_view

CID = Annotator(name="cid", has_login=True)
DORA = Annotator(name="dora", has_login=True)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[QueueProject]:
    """A project with a judged run."""
    made = QueueProject(tmp_path)
    yield made
    made.close()


def work(project: QueueProject, queue: str, person: Annotator, *values: int) -> list[int]:
    """Answer what a queue has for a person: the places, in order."""
    places: list[int] = []
    for value in values:
        found = claim_item(project.queue_ports, queue, person)
        assert found is not None
        item, draft = found.claim.item, found.claim.draft
        given = GivenAnswers(
            found.claim.token, draft.revision, says(correct=value, quality=5 * value)
        )
        submit_answers(project.queue_ports, item.item_id, given, person)
        places.append(item.place)
    return places


def divided(project: QueueProject) -> str:
    """A queue of four items, on the last two of which ann and bob differ."""
    queue = project.queue(size=4, reviews=2)
    work(project, queue, ANN, 1, 1, 1, 1)
    work(project, queue, BOB, 1, 1, 0, 0)
    return queue


def people(project: QueueProject, queue: str) -> AgreementSide:
    found = queue_agreement(project.queue_ports, queue, "lead").questions[0].people
    assert found is not None
    return found


def test_a_tie_break_changes_the_majority_and_not_the_agreement(project: QueueProject) -> None:
    queue = divided(project)
    before, pairs = people(project, queue), lead_view(project.queue_ports, queue).pairs
    ask_about_ties(project.queue_ports, queue)
    places = work(project, queue, CID, 1, 1)
    after = people(project, queue)
    rubrics = KnownRubrics(project.references)
    labels = list(stored_labels(project.ports.annotations, Wanted(rubric=DESK), rubrics))
    votes = people_of(labels, rubrics, DESK).by_response

    assert places == [3, 4]
    assert after.estimates == before.estimates
    assert (before.left_out, after.left_out) == ({}, {TIE_BREAKS: 2})
    assert lead_view(project.queue_ports, queue).pairs == pairs
    assert all(one.is_good for one in votes.values())
    assert sorted(len(one.votes) for one in votes.values()) == [2, 2, 3, 3]
    notes = queue_agreement(project.queue_ports, queue, "lead").notes
    assert any("2 label(s) of people who were asked because others" in one for one in notes)


def test_the_agreement_of_the_run_leaves_tie_breaks_out_as_well(project: QueueProject) -> None:
    queue = divided(project)
    before = agreement(project.ports, run=RUN).rubrics[0].questions[0].people
    ask_about_ties(project.queue_ports, queue)
    work(project, queue, CID, 1, 1)
    after = agreement(project.ports, run=RUN).rubrics[0].questions[0].people

    assert before is not None
    assert after is not None
    assert after.estimates == before.estimates


def test_a_label_says_that_it_broke_a_tie_and_keeps_that_over_an_import(
    project: QueueProject,
) -> None:
    queue = divided(project)
    ask_about_ties(project.queue_ports, queue)
    work(project, queue, CID, 1)
    rows = list(export_labels(project.ports, Wanted()))
    again = project.bring(rows)

    assert [row["annotator"] for row in rows if row.get("tie_break")] == ["cid"]
    assert (again.same, again.imported, again.refused) == (9, 0, 0)


def test_more_people_are_asked_about_every_item_beside_those_who_broke_ties(
    project: QueueProject,
) -> None:
    queue = divided(project)
    ask_about_ties(project.queue_ports, queue)
    work(project, queue, CID, 1, 1)
    raise_reviews(project.queue_ports, queue, 3)
    places = work(project, queue, DORA, 1, 0, 1, 0)

    assert places == [1, 2, 3, 4]
    assert (people(project, queue).people, people(project, queue).answers) == (3, 12)
    assert people(project, queue).left_out == {TIE_BREAKS: 2}
    assert project.queue_ports.progress.counts(queue).complete == 4


def test_records_that_somebody_picked_are_no_door_for_ties(project: QueueProject) -> None:
    queue = divided(project)
    before = agreement(project.ports, run=RUN).rubrics[0].questions[0].people
    places = [(one.index, one.repeat) for one in project.items(queue)[2:]]
    picked = project.queue(by="picked", places=places)
    work(project, picked, CID, 1, 1)
    after = agreement(project.ports, run=RUN).rubrics[0].questions[0].people

    assert before is not None
    assert after is not None
    assert after.estimates == before.estimates
    assert after.left_out == {PICKED: 2}


def test_two_people_who_answered_picked_records_alone_are_compared(project: QueueProject) -> None:
    picked = project.queue(by="picked", places=[(0, 0), (1, 0)], reviews=2)
    work(project, picked, ANN, 1, 1)
    work(project, picked, BOB, 1, 0)
    found = agreement(project.ports, run=RUN).rubrics[0].questions[0].people

    assert found is not None
    assert (found.items, found.left_out) == (2, {})


def test_a_tie_that_waited_in_an_older_store_is_one_afterwards(
    project: QueueProject, tmp_path: Path
) -> None:
    queue = divided(project)
    ask_about_ties(project.queue_ports, queue)
    project.close()
    path = tmp_path / "steelyard.db"
    take_back_to_17(path)
    open_database(path).dispose()
    with sqlite3.connect(path) as connection:
        marked = connection.execute(
            "SELECT slot, count(*) FROM review_slots WHERE is_tie_break GROUP BY slot"
        ).fetchall()
    project.engine = open_database(path)
    project.queue_ports = queue_ports(project)
    work(project, queue, CID, 1, 1)

    assert marked == [(3, 2)]
    assert people(project, queue).left_out == {TIE_BREAKS: 2}
