"""Items in the hands of people: nobody loses work to somebody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from fakes.audit import an_entry
from fakes.review_queues import AT, QUEUE, StoredQueue, a_label, answers
from steelyard.errors import ConflictError, NotFoundError
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.queue import ItemClaim

pytestmark = pytest.mark.usefixtures("both_stores")

MakeQueue: TypeAlias = Callable[..., StoredQueue]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeQueue]:
    """Makes a queue in a store of its own."""
    made: list[StoredQueue] = []

    def queue(**options: Any) -> StoredQueue:
        made.append(StoredQueue(tmp_path / f"{len(made)}.db", **options))
        return made[-1]

    yield queue
    for one in made:
        one.close()


def claimed(queue: StoredQueue, person: str, item: str | None = None) -> ItemClaim:
    found = queue.work.claim(QUEUE, person, AT, item_id=item)
    assert found is not None
    return found


def submit(
    queue: StoredQueue, claim: ItemClaim, value: int = 1, revision: int | None = None
) -> int:
    label = a_label(claim.annotator, claim.item.index, value)
    known = claim.draft.revision if revision is None else revision
    return queue.work.submit(claim.item.item_id, claim.token, known, label, an_entry(AT))


def labels(queue: StoredQueue, *, with_history: bool = False) -> list[tuple[str, str]]:
    found = queue.annotations.all(Wanted(), with_history=with_history)
    return [(str(one.row["record_id"]), str(one.row["annotator"])) for one in found]


def test_two_people_get_two_items_where_one_review_is_enough(make: MakeQueue) -> None:
    queue = make(items=2)

    assert claimed(queue, "ann").item.item_id == "item_1"
    assert claimed(queue, "bob").item.item_id == "item_2"
    assert queue.work.claim(QUEUE, "cem", AT) is None


def test_an_item_goes_to_as_many_people_as_reviews_are_required(make: MakeQueue) -> None:
    queue = make(items=1, reviews=2)
    first, second = claimed(queue, "ann"), claimed(queue, "bob")

    assert first.item.item_id == second.item.item_id
    assert first.token != second.token
    assert queue.work.claim(QUEUE, "cem", AT) is None


def test_whoever_claims_again_gets_what_they_began(make: MakeQueue) -> None:
    queue = make(items=2, reviews=2)
    first = claimed(queue, "ann")
    queue.work.save("item_1", first.token, 0, answers(0), AT)
    again = claimed(queue, "ann")

    assert (again.item.item_id, again.token) == ("item_1", first.token)
    assert (again.draft.answers, again.draft.revision) == (answers(0), 1)


def test_a_person_never_has_two_slots_of_one_item(make: MakeQueue) -> None:
    queue = make(items=1, reviews=3)
    submit(queue, claimed(queue, "ann"))

    assert queue.work.claim(QUEUE, "ann", AT) is None
    with pytest.raises(ConflictError, match="undo reopens it"):
        queue.work.claim(QUEUE, "ann", AT, item_id="item_1")


def test_a_given_item_is_claimed_out_of_order(make: MakeQueue) -> None:
    queue = make(items=3)

    assert claimed(queue, "ann", "item_3").item.item_id == "item_3"
    with pytest.raises(ConflictError, match="as many reviewers as it needs"):
        queue.work.claim(QUEUE, "bob", AT, item_id="item_3")
    with pytest.raises(NotFoundError):
        queue.work.claim(QUEUE, "bob", AT, item_id="item_9")


def test_an_expired_claim_is_taken_over_and_its_token_is_refused(make: MakeQueue) -> None:
    queue = make(items=1)
    first = claimed(queue, "ann")
    queue.work.save("item_1", first.token, 0, answers(0), AT)
    queue.expire()
    second = claimed(queue, "bob")

    assert second.draft.answers == {"trace": {}, "turns": {}}
    for write in (
        lambda: queue.work.save("item_1", first.token, 1, answers(1), AT),
        lambda: submit(queue, first, revision=1),
        lambda: queue.work.skip("item_1", first.token, "no", an_entry(AT)),
        lambda: queue.work.defer("item_1", first.token, AT),
    ):
        with pytest.raises(ConflictError, match="no longer claimed"):
            write()
    submit(queue, second)

    assert labels(queue) == [("r0", "bob")]
    kept = queue.work.draft("item_1", "ann")
    assert kept is not None
    assert kept.answers == answers(0)


def test_an_expired_claim_goes_on_where_nobody_took_it_over(make: MakeQueue) -> None:
    queue = make(items=1)
    first = claimed(queue, "ann")
    queue.expire()
    revision = queue.work.save("item_1", first.token, 0, answers(0), AT)

    assert queue.work.claim(QUEUE, "bob", AT) is None
    assert submit(queue, first, revision=revision) == 2


def test_a_free_slot_is_taken_before_that_of_somebody_whose_lease_expired(
    make: MakeQueue,
) -> None:
    queue = make(items=1, reviews=2)
    first = claimed(queue, "ann")
    queue.expire()
    claimed(queue, "bob")

    assert queue.work.save("item_1", first.token, 0, answers(), AT) == 1


def test_an_older_revision_is_refused_and_the_same_answers_again_are_not(make: MakeQueue) -> None:
    queue = make()
    claim = claimed(queue, "ann")

    assert queue.work.save("item_1", claim.token, 0, answers(0), AT) == 1
    assert queue.work.save("item_1", claim.token, 0, answers(0), AT) == 1
    with pytest.raises(ConflictError, match="revision 1, not 0"):
        queue.work.save("item_1", claim.token, 0, answers(1), AT)
    with pytest.raises(ConflictError, match="revision 1, not 0"):
        submit(queue, claim, revision=0)
    assert submit(queue, claim, revision=1) == 2


def test_a_submission_whose_reply_was_lost_may_be_sent_again(make: MakeQueue) -> None:
    queue = make()
    claim = claimed(queue, "ann")

    assert submit(queue, claim) == 1
    assert submit(queue, claim) == 1
    with pytest.raises(ConflictError):
        submit(queue, claim, value=0)
    assert len(labels(queue, with_history=True)) == 1


def test_a_skipped_item_is_never_offered_to_that_person_again(make: MakeQueue) -> None:
    queue = make(items=2)
    claim = claimed(queue, "ann")
    queue.work.skip("item_1", claim.token, "not my field", an_entry(AT))

    assert claimed(queue, "ann").item.item_id == "item_2"
    assert claimed(queue, "bob").item.item_id == "item_1"
    draft = queue.work.draft("item_1", "ann")
    assert draft is not None
    assert (draft.standing, draft.reason) == ("skipped", "not my field")
    with pytest.raises(ConflictError, match="has skipped"):
        queue.work.claim(QUEUE, "ann", AT, item_id="item_1")


def test_a_deferred_item_comes_last_with_its_draft(make: MakeQueue) -> None:
    queue = make(items=3)
    for number in (1, 2):
        claim = claimed(queue, "ann")
        queue.work.save(claim.item.item_id, claim.token, 0, answers(0), AT)
        queue.work.defer(claim.item.item_id, claim.token, f"2026-11-18T09:00:0{number}")
    submit(queue, claimed(queue, "ann"))
    again = claimed(queue, "ann")

    assert (again.item.item_id, again.draft.revision) == ("item_1", 1)
    assert again.draft.standing == "open"


def test_undo_after_submit_withdraws_the_label_and_opens_the_item(make: MakeQueue) -> None:
    queue = make(items=2)
    claim = claimed(queue, "ann")
    revision = submit(queue, claim, value=0)
    again = queue.work.undo("item_1", "ann", an_entry(AT))

    assert labels(queue) == []
    assert (again.draft.answers, again.draft.revision) == (answers(0), revision)
    assert submit(queue, again, value=1) == 2
    assert labels(queue) == [("r0", "ann")]
    assert len(labels(queue, with_history=True)) == 3


def test_undo_brings_back_what_the_person_had_said_elsewhere(make: MakeQueue) -> None:
    queue = make(items=1)
    imported = a_label("ann", 0, value=0)
    queue.annotations.keep([imported], an_entry(AT), is_replacing=False)
    submit(queue, claimed(queue, "ann"), value=1)
    queue.work.undo("item_1", "ann", an_entry(AT))

    assert [one.row for one in queue.annotations.all(Wanted())] == [imported]


def test_an_item_that_was_undone_and_left_goes_to_somebody_else(make: MakeQueue) -> None:
    queue = make(items=1)
    submit(queue, claimed(queue, "ann"))
    queue.work.undo("item_1", "ann", an_entry(AT))
    queue.expire()
    submit(queue, claimed(queue, "bob"))

    assert labels(queue) == [("r0", "bob")]
    assert queue.work.claim(QUEUE, "ann", AT) is None


def test_undo_takes_back_a_skip_unless_others_have_filled_the_item(make: MakeQueue) -> None:
    queue = make(items=1)
    queue.work.skip("item_1", claimed(queue, "ann").token, "no", an_entry(AT))
    back = queue.work.undo("item_1", "ann", an_entry(AT))
    queue.work.skip("item_1", back.token, "no", an_entry(AT))
    submit(queue, claimed(queue, "bob"))

    with pytest.raises(ConflictError, match="as many reviewers"):
        queue.work.undo("item_1", "ann", an_entry(AT))
    draft = queue.work.draft("item_1", "ann")
    assert draft is not None
    assert draft.standing == "skipped"


def test_there_is_nothing_to_undo_before_the_first_step(make: MakeQueue) -> None:
    queue = make()
    claimed(queue, "ann")

    with pytest.raises(ConflictError, match="neither submitted nor skipped"):
        queue.work.undo("item_1", "ann", an_entry(AT))
    with pytest.raises(NotFoundError):
        queue.work.undo("item_1", "bob", an_entry(AT))


def test_an_item_is_reassigned_with_the_draft_kept(make: MakeQueue) -> None:
    queue = make(items=2)
    claim = claimed(queue, "ann")
    queue.work.save("item_1", claim.token, 0, answers(0), AT)
    queue.work.reassign("item_1", "ann", "bob", an_entry(AT))

    assert claimed(queue, "bob").item.item_id == "item_1"
    with pytest.raises(ConflictError):
        queue.work.save("item_1", claim.token, 1, answers(1), AT)
    with pytest.raises(ConflictError, match="no unfinished claim"):
        queue.work.reassign("item_1", "ann", None, an_entry(AT))


def test_an_item_is_not_reassigned_to_somebody_who_skipped_it(make: MakeQueue) -> None:
    queue = make(items=1)
    queue.work.skip("item_1", claimed(queue, "bob").token, "no", an_entry(AT))
    claimed(queue, "ann")

    with pytest.raises(ConflictError, match="has skipped"):
        queue.work.reassign("item_1", "ann", "bob", an_entry(AT))
    assert claimed(queue, "ann").item.item_id == "item_1"


def test_a_closed_queue_offers_nothing_and_lets_people_finish(make: MakeQueue) -> None:
    queue = make(items=2)
    claim = claimed(queue, "ann")
    queue.queues.set_status(QUEUE, "closed", an_entry(AT))

    assert submit(queue, claim) == 1
    with pytest.raises(ConflictError, match="closed"):
        queue.work.claim(QUEUE, "ann", AT)
    with pytest.raises(NotFoundError):
        queue.work.claim("queue_2", "ann", AT)
