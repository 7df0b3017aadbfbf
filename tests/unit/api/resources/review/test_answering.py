"""Answers to items of review queues over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fakes.review_project import answers
from steelyard.model.labels.annotation import Wanted

if TYPE_CHECKING:
    from servers.review_service import ReviewService


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"trace": {"quality": 9}}, "answers.trace.quality"),
        ({"trace": {"unknown": 1}}, "answers.trace.unknown"),
        ({"trace": {"turn_ok": "fine"}}, "answers.trace.turn_ok"),
        ({"turns": {"turn_3": {"turn_ok": "fine"}}}, "answers.turns.turn_3"),
        ({"turns": {"turn_1": {"turn_ok": "great"}}}, "answers.turns.turn_1.turn_ok"),
    ],
)
def test_answers_that_do_not_fit_the_rubric_are_refused_with_their_paths(
    service: ReviewService, given: dict[str, Any], path: str
) -> None:
    ann = service.person("ann")
    item = ann.claimed(service.queue())
    for verb in ("", "submit"):
        answer = ann.write(item, verb, answers=given)

        assert answer.status_code == 400
        findings = answer.json()["error"]["details"]["findings"]
        assert path in [one["path"] for one in findings]


def test_conflicts_say_so(service: ReviewService) -> None:
    queue = service.queue(fill={"size": 1})
    ann = service.person("ann")
    item = ann.claimed(queue)
    assert ann.write(item, answers={"trace": {"correct": 1}}).json()["revision"] == 1
    older = ann.write(item, answers={"trace": {"correct": 0}})
    assert older.status_code == 409
    assert older.json()["error"]["code"] == "conflict"
    stranger = ann.submit({**item, "token": "nobody"}, answers(0))
    assert stranger.status_code == 409
    again = ann.write(item, answers={"trace": {"correct": 1}})
    assert again.json()["revision"] == 1


def test_undo_after_submit_withdraws_the_label_until_the_next(service: ReviewService) -> None:
    queue = service.queue(fill={"size": 1})
    ann = service.person("ann who undoes")
    item = ann.claimed(queue)
    ann.submit(item, answers(1))
    back = ann.do(item, "undo", **ann.named).json()
    kept = service.project.review_ports().annotations

    assert back["draft"]["trace"]["quality"] == 2
    assert list(kept.all(Wanted(annotator=ann.name))) == []
    assert ann.submit(back, answers(2)).json()["revision"] == 2
    assert len(list(kept.all(Wanted(annotator=ann.name)))) == 1
    assert ann.do(item, "defer", token=back["token"]).status_code == 409


def test_answers_are_redacted_before_they_are_kept(service: ReviewService) -> None:
    ann = service.person("ann who writes")
    item = ann.claimed(service.queue())
    ann.write(item, answers={"trace": {"note": "ask mo@library.org"}, "turns": {}})
    again = ann.claimed(item["queue_id"])

    assert "mo@library.org" not in again["draft"]["trace"]["note"]


def test_others_and_the_judge_are_shown_after_ones_own_answers(service: ReviewService) -> None:
    untouched = {"by": "picked", "records": [{"index": 7}]}  # no other test opens it
    queue = service.queue(fill=untouched, reviews_required=2)
    ann, bob = service.person("ann who looks"), service.person("bob who waits")
    item = ann.claimed(queue)
    before = ann.ask("GET", f"/v1/annotations/{item['item_id']}/revealed", **ann.named)
    assert before.status_code == 409
    ann.submit(item, answers(1))
    other = bob.claimed(queue)
    assert bob.submit(other, answers(2)).json()["exposure"] == "blind"
    seen = ann.get(f"/v1/annotations/{item['item_id']}/revealed")

    assert seen["own"]["annotator"] == ann.name
    assert [one["annotator"] for one in seen["others"]] == [bob.name]
    (judged,) = seen["judged"]
    assert judged["answers"]["trace"]["tone"] in {"warm", "cold"}
    assert judged["details"]["items"]
    back = ann.do(item, "undo", **ann.named).json()
    assert ann.submit(back, answers(1)).json()["exposure"] == "blind"
    back = ann.do(item, "undo", **ann.named).json()
    assert ann.submit(back, answers(3)).json()["exposure"] == "after_commit"


def test_a_queue_may_never_show_the_answers_of_others(service: ReviewService) -> None:
    ann = service.person("ann")
    item = ann.claimed(service.queue(reveal="never"))
    ann.submit(item, answers(1))
    answer = ann.ask("GET", f"/v1/annotations/{item['item_id']}/revealed", **ann.named)

    assert answer.status_code == 403


def test_every_step_may_repeat_token_and_revision(service: ReviewService) -> None:
    queue, ann = service.queue(), service.person("ann")
    for verb, more in (
        ("flag", {"kind": "bad_item", **ann.named}),
        ("defer", {}),
        ("undo", ann.named),
        ("skip", {"reason": "not mine"}),
    ):
        item = ann.claimed(queue)
        given = {"token": item["token"], "revision": item["revision"], **more}
        if verb == "undo":
            ann.do(item, "defer", token=item["token"])
        answer = ann.do(item, verb, **given)
        assert answer.status_code in {200, 204}, answer.text


def test_a_skip_needs_a_reason_and_a_note_a_text(service: ReviewService) -> None:
    ann = service.person("ann")
    item = ann.claimed(service.queue())

    assert ann.do(item, "skip", token=item["token"], reason="").status_code == 400
    assert ann.do(item, "skip", token=item["token"], reason=" ").status_code == 400
    assert ann.do(item, "flag", kind="note", **ann.named).status_code == 400
    assert ann.do(item, "flag", kind="bad_item", **ann.named).status_code == 204
    listed = ann.get(f"/v1/queues/{item['queue_id']}/items")["data"]
    assert [one["flags"] for one in listed][item["place"] - 1] == 1


def test_nothing_before_commit_says_how_an_item_was_drawn_or_judged(
    service: ReviewService,
) -> None:
    queue = service.queue(fill={"by": "verdict", "size": 6}, reviews_required=2)
    bob = service.person("the other annotator")
    for _ in range(3):
        item = bob.claimed(queue)
        bob.submit(item, answers(1, note="A remark of the other one."))
    ann = service.person("ann the blind")
    received: list[str] = []
    for _ in range(3):
        item = ann.claimed(queue)
        received.append(str(item))
        received.extend(
            ann.ask("GET", path, **ann.named).text
            for path in (
                "/v1/queues",
                f"/v1/queues/{queue}",
                f"/v1/queues/{queue}/items",
                f"/v1/queues/{queue}/answers",
            )
        )
        received.append(ann.write(item, answers={"trace": {"correct": 1}}).text)
        item = ann.claimed(queue)
        ann.do(item, "defer", token=item["token"])
    text = "\n".join(received)

    for secret in (
        *("A remark of the other one.", "the other annotator", "inclusion_prob", "stratum"),
        *("verdict", "strata", "passed", "failed", "about quality", "about correct", '"score":'),
        service.run_id,
    ):
        assert secret not in text, secret
