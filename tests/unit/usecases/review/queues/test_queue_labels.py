"""A label belongs to the queue in which it was given."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from fakes.clock import ManualClock
from fakes.review_queues import AT
from fakes.review_source import ANN, BOB, RUN, QueueProject
from fakes.reviews import DESK, label, says
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.review.agreement import agreement
from steelyard.usecases.review.export_labels import export_labels
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.queues.adjudication import (
    GoldDecision,
    adjudicate,
    list_disagreements,
)
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    GivenAnswers,
    claim_item,
    submit_answers,
    undo_last,
)
from steelyard.usecases.review.queues.gold_rows import gold_rows
from steelyard.usecases.review.queues.queue_agreement import queue_agreement
from steelyard.usecases.review.queues.queue_rows import queue_rows

pytestmark = pytest.mark.usefixtures("both_stores")

QUEUE_FIELDS = ("queue_id", "annotator", "inclusion_prob", "exposure")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[QueueProject]:
    """A project with a judged run."""
    made = QueueProject(tmp_path)
    yield made
    made.close()


def answer(project: QueueProject, queue: str, person: Annotator, *values: int) -> None:
    """Answer the items of a queue one after the other, each a second later."""
    for value in values:
        cast(ManualClock, project.queue_ports.clock).elapsed += 1
        found = claim_item(project.queue_ports, queue, person)
        assert found is not None
        claim = found.claim
        given = GivenAnswers(claim.token, claim.draft.revision, says(correct=value))
        submit_answers(project.queue_ports, claim.item.item_id, given, person)


def exported(project: QueueProject) -> list[dict[str, Any]]:
    return list(export_labels(project.ports, Wanted()))


def counted(project: QueueProject) -> list[Any]:
    found = stored_labels(project.ports.annotations, Wanted(), KnownRubrics(project.references))
    return [(one.record_id, one.queue_id, one.exposure) for one in found]


def test_an_answer_in_another_queue_leaves_the_first_as_it_is(project: QueueProject) -> None:
    first = project.queue(size=4, reviews=2)
    answer(project, first, ANN, 1, 1, 1, 1)
    answer(project, first, BOB, 1, 1, 0, 0)
    before = queue_agreement(project.queue_ports, first, "lead")
    second = project.queue(size=2, reviews=2)
    answer(project, second, ANN, 0, 0)

    assert queue_agreement(project.queue_ports, first, "lead") == before
    rows = exported(project)
    assert len(rows) == 10
    assert {tuple(row[name] for name in QUEUE_FIELDS) for row in rows} == {
        (first, "ann", 1.0, "blind"),
        (first, "bob", 1.0, "blind"),
        (second, "ann", 0.5, "blind"),
    }
    disputed = list_disagreements(project.queue_ports, first, "lead")
    assert len(disputed) == 2
    assert all(len(one.given) == 2 for one in disputed)


def test_two_answers_of_one_person_are_one_label_of_the_run(project: QueueProject) -> None:
    first = project.queue(size=4)
    answer(project, first, ANN, 1, 1, 1, 1)
    second = project.queue(size=4)
    answer(project, second, ANN, 0, 0, 0, 0)
    found = agreement(project.ports, run=RUN).rubrics[0]

    assert [queue for _, queue, _ in counted(project)] == [first] * 4
    assert (found.labels, found.people) == (4, 1)
    left_out = "4 label(s) were left out: the same person answered the same response in another"
    assert found.notes == (f"{left_out} queue",)


def test_a_blind_label_goes_before_an_earlier_one_that_is_not(project: QueueProject) -> None:
    first = project.queue(size=4)
    project.queue_ports.seen.note("ann", [RUN], None, AT)
    answer(project, first, ANN, 1)
    (row,) = exported(project)
    blind = {**row, "queue_id": "queue_later", "exposure": "blind"}
    project.bring([blind])

    assert row["exposure"] == "suggested"
    assert [(queue, exposure) for _, queue, exposure in counted(project)] == [
        ("queue_later", "blind")
    ]


def test_a_label_under_other_content_of_the_rubric_does_not_stand_in_the_way(
    project: QueueProject,
) -> None:
    old = label(0, queue_id="queue_a", rubric_sha256="0" * 64, answers=says(correct=0))
    project.bring([old, label(0, queue_id="queue_b", answers=says(correct=1))])

    assert counted(project) == [("r0", "queue_b", "blind")]


def test_an_undone_answer_counts_in_no_queue_but_the_others(project: QueueProject) -> None:
    first, second = project.queue(size=4), project.queue(size=4)
    answer(project, first, ANN, 1)
    answer(project, second, ANN, 0)
    undo_last(project.queue_ports, project.items(first)[0].item_id, ANN)

    assert [row["queue_id"] for row in exported(project)] == [second]


def test_exported_labels_of_queues_can_be_imported_again(project: QueueProject) -> None:
    answer(project, project.queue(size=4), ANN, 1, 0)
    answer(project, project.queue(size=4), ANN, 0, 0)
    again = project.bring(exported(project))

    assert (again.read, again.same, again.refused) == (4, 4, 0)


def test_an_imported_label_counts_in_no_queue(project: QueueProject) -> None:
    queue = project.queue(size=4)
    first = project.items(queue)[0].record_id
    index = int(first.removeprefix("r"))
    project.bring([label(index, "cy", queue_id=queue, answers=says(correct=1))])

    assert queue_agreement(project.queue_ports, queue, "lead").labels == 0
    assert agreement(project.ports, run=RUN, rubric=DESK).rubrics[0].labels == 1


def test_a_gold_label_goes_out_with_its_provenance_and_counts_for_nobody(
    project: QueueProject,
) -> None:
    queue = project.queue(size=4, reviews=2)
    answer(project, queue, ANN, 1, 1)
    answer(project, queue, BOB, 0, 1)
    item = project.items(queue)[0]
    adjudicate(project.queue_ports, item.item_id, GoldDecision(answers=says(correct=1)))
    before = queue_agreement(project.queue_ports, queue, "lead")
    gold: dict[str, Any]
    (gold,) = gold_rows(project.queue_ports, Wanted(rubric=DESK, runs=(RUN,)))
    rows = queue_rows(project.queue_ports, queue, "reader")
    again = project.bring(rows)

    assert (gold["record_id"], gold["exposure"]) == (item.record_id, "after_commit")
    assert [one["annotator"] for one in gold["gold"]["from"]] == ["ann", "bob"]
    assert rows[-1] == gold
    assert (again.same, again.gold, again.imported) == (4, 1, 0)
    assert queue_agreement(project.queue_ports, queue, "lead") == before
    assert [*gold_rows(project.queue_ports, Wanted(annotator="ann"))] == []


def test_whoever_reads_the_labels_of_a_queue_is_not_blind_about_them(
    project: QueueProject,
) -> None:
    queue = project.queue(size=4, reviews=2)
    answer(project, queue, BOB, 1)
    queue_rows(project.queue_ports, queue, "ann")
    answer(project, queue, ANN, 1, 0)

    found = {row["record_id"]: row["exposure"] for row in exported(project) if is_ann(row)}
    assert [*found.values()] == ["suggested", "blind"]


def is_ann(row: dict[str, Any]) -> bool:
    return row["annotator"] == "ann"
