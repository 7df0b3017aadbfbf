"""Answer the items of a queue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.review_source import ANN, BOB, RUN, QueueProject
from fakes.reviews import response, says
from steelyard.errors import ConflictError, ForbiddenError, InvalidError
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    ClaimedItem,
    GivenAnswers,
    claim_item,
    flag_item,
    save_draft,
    skip_item,
    submit_answers,
    undo_last,
)
from steelyard.usecases.review.queues.exposure import ANYBODY
from steelyard.usecases.review.queues.queue_views import lead_view, list_items, own_answers
from steelyard.usecases.review.queues.reveal import reveal_answers

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[QueueProject]:
    """A project with a judged run."""
    made = QueueProject(tmp_path)
    yield made
    made.close()


def claimed(project: QueueProject, queue: str, person: Annotator = ANN) -> ClaimedItem:
    found = claim_item(project.queue_ports, queue, person)
    assert found is not None
    return found


def submit(
    project: QueueProject, found: ClaimedItem, person: Annotator = ANN, **answers: Any
) -> str:
    claim = found.claim
    given = GivenAnswers(claim.token, claim.draft.revision, says(**answers))
    return submit_answers(project.queue_ports, claim.item.item_id, given, person).exposure


def test_a_submitted_label_has_all_that_a_corrected_rate_needs(project: QueueProject) -> None:
    queue = project.queue(by="verdict")
    submit(project, claimed(project, queue), correct=1)
    (kept,) = [one.row for one in project.ports.annotations.all(Wanted())]
    first = project.items(queue)[0]

    assert kept["inclusion_prob"] == first.inclusion_prob == 0.5
    assert kept["stratum"] == first.stratum == "passed"
    assert kept["run_id"] == RUN
    assert kept["exposure"] == "blind"
    assert len(str(kept["rubric_sha256"])) == 64


def test_whoever_saw_the_results_first_is_not_blind(project: QueueProject) -> None:
    queue = project.queue(reviews=2)
    first = project.items(queue)[0]
    project.queue_ports.seen.note("ann", [RUN], [first.index], "2026-11-18")

    assert submit(project, claimed(project, queue), correct=1) == "suggested"
    assert submit(project, claimed(project, queue, BOB), BOB, correct=1) == "blind"


def test_results_of_the_same_response_in_another_run_are_results_of_it(
    project: QueueProject,
) -> None:
    queue = project.queue(size=4)
    first, second, third, _ = (item.index for item in project.items(queue))
    other = response(second, trace={"messages": [{"role": "assistant", "content": "Else."}]})
    project.run([response(first), other, response(third, record_sha256="changed")], "run_2")
    project.queue_ports.seen.note("ann", ["run_2"], None, "2026-11-18")
    project.queue_ports.seen.note("ann", ["run_gone"], None, "2026-11-18")

    found = [submit(project, claimed(project, queue), correct=1) for _ in range(3)]
    assert found == ["suggested", "blind", "blind"]


@pytest.mark.parametrize(("has_login", "exposure"), [(True, "blind"), (False, "suggested")])
def test_results_that_somebody_opened_count_for_all_without_login(
    project: QueueProject, has_login: bool, exposure: str
) -> None:
    project.queue_ports.seen.note(ANYBODY, [RUN], None, "2026-11-18")
    person = Annotator(name="ann", has_login=has_login)

    assert submit(project, claimed(project, project.queue(), person), person) == exposure


def test_a_change_after_the_answers_of_others_is_not_blind(project: QueueProject) -> None:
    queue = project.queue(size=1)
    found = claimed(project, queue)
    item_id = found.claim.item.item_id
    ports = project.queue_ports
    with pytest.raises(ConflictError, match="first"):
        reveal_answers(ports, item_id, ANN)
    assert submit(project, found, correct=1) == "blind"
    again = undo_last(ports, item_id, ANN)
    assert submit(project, again, correct=0) == "blind"
    seen = reveal_answers(ports, item_id, ANN)
    trace: list[Any] = [one.answers["trace"] for one in seen.judged]
    assert [one["tone"] for one in trace] == ["warm"]

    assert submit(project, undo_last(ports, item_id, ANN), correct=0) == "blind"
    assert submit(project, undo_last(ports, item_id, ANN), correct=1) == "after_commit"
    assert submit(project, undo_last(ports, item_id, ANN), correct=1) == "after_commit"


def test_who_was_not_blind_at_first_never_is(project: QueueProject) -> None:
    queue = project.queue(size=1)
    project.queue_ports.seen.note("ann", [RUN], None, "2026-11-18")
    found = claimed(project, queue)
    assert submit(project, found, correct=1) == "suggested"

    again = undo_last(project.queue_ports, found.claim.item.item_id, ANN)
    assert submit(project, again, correct=0) == "suggested"


def test_a_queue_may_keep_the_answers_of_others_to_itself(project: QueueProject) -> None:
    found = claimed(project, project.queue(reveal="never"))
    submit(project, found, correct=1)

    with pytest.raises(ForbiddenError):
        reveal_answers(project.queue_ports, found.claim.item.item_id, ANN)


def test_a_token_of_somebody_else_is_refused(project: QueueProject) -> None:
    found = claimed(project, project.queue())
    given = GivenAnswers(found.claim.token, 0, says(correct=1))

    with pytest.raises(ConflictError, match="somebody else"):
        save_draft(project.queue_ports, found.claim.item.item_id, given, BOB)


def test_wrong_answers_are_refused_with_their_findings(project: QueueProject) -> None:
    found = claimed(project, project.queue())
    given = GivenAnswers(found.claim.token, 0, {"trace": {"correct": 7}, "turns": []})

    with pytest.raises(InvalidError, match=r"answers\.trace\.correct") as caught:
        save_draft(project.queue_ports, found.claim.item.item_id, given, ANN)
    assert caught.value.details is not None
    paths = [one["path"] for one in caught.value.details["findings"]]
    assert paths == ["answers.trace.correct", "answers.turns"]


def test_a_name_that_is_personal_data_is_stored_as_a_word(project: QueueProject) -> None:
    person = Annotator(name="ann@library.org", has_login=True)
    queue = project.queue(size=1)
    found = claimed(project, queue, person)
    submit(project, found, person, note="mo@library.org says so")
    (kept,) = [one.row for one in project.ports.annotations.all(Wanted())]

    assert str(kept["annotator"]).startswith("person-")
    assert "library.org" not in str(kept)
    seen = reveal_answers(project.queue_ports, found.claim.item.item_id, person)
    assert seen.own is not None
    assert seen.others == ()
    undo_last(project.queue_ports, found.claim.item.item_id, person)
    assert list(project.ports.annotations.all(Wanted())) == []


def test_people_and_leads_see_what_was_done(project: QueueProject) -> None:
    queue, ports = project.queue(size=3), project.queue_ports
    submit(project, claimed(project, queue), correct=1)
    skipped = claimed(project, queue).claim
    flag_item(ports, skipped.item.item_id, ANN, "bad_item")
    skip_item(ports, skipped.item.item_id, skipped.token, "mo@library.org knows", ANN)
    lead = lead_view(ports, queue)

    states = [one.state for one in list_items(ports, queue, "ann")]
    assert states == ["submitted", "skipped", "waiting"]
    assert [one.draft.standing for one in own_answers(ports, queue, ANN)] == [
        *("submitted", "skipped"),
    ]
    assert own_answers(ports, queue, BOB) == []
    assert (lead.counts.items, lead.counts.reviews, lead.counts.complete) == (3, 1, 1)
    (ann,) = lead.people
    assert (ann.submitted, ann.skipped, ann.flags) == (1, 1, 1)
    assert "library.org" not in str(lead.skips[0].reason)
    assert lead.outdated == ()
