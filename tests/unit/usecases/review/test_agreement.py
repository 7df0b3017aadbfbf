"""Labels of a project beside each other, and beside the judges of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.review_project import QUESTIONS
from fakes.reviews import DESK, RUN, ReviewProject, check, failed, label, response, says
from steelyard.errors import NotFoundError, RequestError
from steelyard.model.statistics.agreement import (
    Agreement,
    AgreementSide,
    QuestionAgreement,
    RubricAgreement,
)
from steelyard.review.agreement import NO_JUDGE, NOT_BLIND
from steelyard.usecases.review.agreement import agreement


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project without a run."""
    made = ReviewProject(tmp_path)
    yield made
    made.close()


def judged(index: int, **answers: Any) -> dict[str, Any]:
    """A response to which a judge answered."""
    return response(index, check(says(**answers)))


def rubric(found: Agreement, name: str = DESK) -> RubricAgreement:
    return next(one for one in found.rubrics if one.rubric == name)


def question(found: Agreement, key: str, name: str = DESK) -> QuestionAgreement:
    return next(one for one in rubric(found, name).questions if one.key == key)


def judge_of(found: Agreement, key: str, name: str = DESK) -> AgreementSide:
    side = question(found, key, name).judge
    assert side is not None
    return side


def value(side: AgreementSide, name: str) -> float | None:
    return next(one.value for one in side.estimates if one.name == name)


def test_without_a_run_people_are_compared_over_all_runs(project: ReviewProject) -> None:
    project.run([response(0), response(1)])
    project.run([response(0)], "run_2")
    rows = [
        label(0, answers=says(correct=1)),
        label(0, "bob", answers=says(correct=1)),
        label(0, run_id="run_2", answers=says(correct=0)),
        label(0, "bob", run_id="run_2", answers=says(correct=1)),
        label(1, answers=says(correct=1), exposure="suggested"),
    ]
    project.bring(rows)
    found = agreement(project.ports)
    people = question(found, "correct").people

    assert found.run_id is None
    assert people is not None
    assert (people.items, people.people, value(people, "agreement")) == (2, 2, 0.5)
    assert [(one.item.run_id, one.people) for one in people.disagreements] == [
        ("run_2", {"ann": 0, "bob": 1})
    ]
    assert question(found, "correct").judge is None
    assert (rubric(found).labels, rubric(found).blind, rubric(found).people) == (5, 4, 2)
    assert rubric(found).judged_by == ()


def test_the_answers_of_a_judge_stand_beside_blind_ones(project: ReviewProject) -> None:
    rows = [judged(0, correct=1, quality=3), judged(1, correct=0), response(2), failed(3)]
    project.run(rows)
    project.bring(
        [
            label(0, answers=says(correct=1, quality=4, note="fine")),
            label(1, answers=says(correct=1, issues=["slow"])),
            label(2, answers=says(correct=1)),
            label(1, "bob", exposure="after_commit", answers=says(correct=0)),
        ]
    )
    found = agreement(project.ports, run=RUN)
    judge = judge_of(found, "correct")

    assert found.run_id == RUN
    assert rubric(found).judged_by == ("questions", "judge/questionnaire@1.0.0")
    assert (judge.items, judge.left_out) == (2, {NOT_BLIND: 1, NO_JUDGE: 1})
    assert value(judge, "tpr") == 0.5
    assert [(one.item.record_id, one.human, one.judge) for one in judge.disagreements] == [
        ("r1", 1, 0)
    ]
    assert value(judge_of(found, "quality"), "mae") == 1
    # nobody but people answered this one, and comments are compared with nothing
    assert judge_of(found, "issues").items == 0
    assert [one.key for one in rubric(found).questions] == ["correct", "quality", "issues"]


def test_a_question_for_people_alone_has_no_judge(project: ReviewProject) -> None:
    changed = json.loads(json.dumps(QUESTIONS))
    changed["questions"][0]["answeredByAuto"] = False
    project.write("rubrics/desk-v1.json", json.dumps(changed))
    project.run([judged(0, quality=3)])
    project.bring([label(0, answers=says(correct=1))])

    assert question(agreement(project.ports, run=RUN), "correct").judge is None


def test_turns_are_items_of_their_own(project: ReviewProject) -> None:
    said = says({"turn_1": {"turn_ok": "fine"}, "turn_2": {"turn_ok": "poor"}})
    project.run([response(0, check(said))])
    project.bring([label(0, answers=says({"turn_2": {"turn_ok": "fine"}}))])
    judge = judge_of(agreement(project.ports, run=RUN), "turn_ok")

    assert (judge.items, [one.item.turn for one in judge.disagreements]) == (1, [2])


def test_repeats_are_items_of_their_own(project: ReviewProject) -> None:
    project.run([judged(0, correct=1), {**judged(0, correct=0), "repeat": 1}])
    project.bring([label(0, answers=says(correct=1)), label(0, repeat=1, answers=says(correct=1))])
    judge = judge_of(agreement(project.ports, run=RUN), "correct")

    assert (judge.items, [one.item.repeat for one in judge.disagreements]) == (2, [1])


def within(*checks: dict[str, Any], name: str = "asked") -> dict[str, Any]:
    """A composite of the question rubric."""
    details = {"rubric": DESK, "results": list(checks)}
    return check(None, check=name, kind="composite", judge=None, details=details)


def test_answers_within_a_composite_count(project: ReviewProject) -> None:
    rows = [response(0, within(check(says(correct=0))))]
    project.run(rows, rubrics=["rubric/outer@1.0.0"])
    project.bring([label(0, answers=says(correct=1))])
    found = agreement(project.ports, run=RUN)

    assert rubric(found).judged_by == ("asked/questions", "judge/questionnaire@1.0.0")
    assert judge_of(found, "correct").items == 1


def test_of_two_checks_one_must_be_named(project: ReviewProject) -> None:
    twice = (within(check(says(correct=0))), within(check(says(correct=1)), name="again"))
    project.run([response(0, *twice)], rubrics=["rubric/outer@1.0.0"])
    project.bring([label(0, answers=says(correct=1))])

    with pytest.raises(RequestError, match="asked/questions; name one with `check`"):
        agreement(project.ports, run=RUN)
    found = agreement(project.ports, run=RUN, check="again/questions")
    assert judge_of(found, "correct").disagreements == ()


def test_a_run_that_asked_something_else_has_no_judge(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)], rubrics=["rubric/other-v1"])
    project.bring([label(0, answers=says(correct=1))])
    found = rubric(agreement(project.ports, run=RUN))
    named = rubric(agreement(project.ports, run=RUN, check="gone"))

    assert found.questions[0].judge is None
    assert found.notes == (f"no check of {RUN} answers {DESK}",)
    assert named.notes == (f"no check named 'gone' of {RUN} answers {DESK}",)


def test_of_several_rubrics_a_row_is_known_by_its_questions(project: ReviewProject) -> None:
    rows = [judged(0, correct=1), response(1, check(says(elsewhere=1)))]
    project.run(rows, rubrics=[DESK, "rubric/other-v1"])
    project.bring([label(0, answers=says(correct=1)), label(1, answers=says(correct=1))])
    judge = judge_of(agreement(project.ports, run=RUN), "correct")

    assert (judge.items, judge.left_out) == (1, {NO_JUDGE: 1})


def test_labels_of_a_run_count_for_a_run_that_grades_it_again(project: ReviewProject) -> None:
    folder = project.run([judged(0, correct=1), judged(1, correct=1)])
    derived = {"run_id": RUN, "how": "regrade", "folder": str(folder)}
    project.run([judged(0, correct=0), judged(1, correct=0)], "run_2", derived_from=derived)
    project.bring(
        [
            label(0, answers=says(correct=1)),
            label(0, run_id="run_2", answers=says(correct=0)),
            label(1, "bob", answers=says(correct=1)),
            label(1, run_id="run_2", answers=says(correct=1)),
        ]
    )
    found = agreement(project.ports, run="run_2")
    people, judge = question(found, "correct").people, judge_of(found, "correct")

    assert judge.items == 2
    # what was said last, about the run itself, counts
    assert [one.item.record_id for one in judge.disagreements] == ["r1"]
    assert people is not None
    assert people.items == 1
    assert rubric(found).notes == (
        "1 answer(s) were given again about the same response in another run",
    )


def plain(index: int, passed: bool, **more: Any) -> dict[str, Any]:
    return {**label(index), "rubric": "verdict", "passed": passed, **more}


def test_plain_passes_stand_beside_the_verdict(project: ReviewProject) -> None:
    rows = [
        response(0),
        response(1, passed=False),
        response(2, status="evaluation_error", passed=None),
    ]
    project.run(rows)
    project.bring([plain(0, True), plain(1, True), plain(2, True), plain(0, True, annotator="b")])
    found = agreement(project.ports, run=RUN)
    judge = judge_of(found, "passed", "verdict")

    assert rubric(found, "verdict").judged_by == ("verdict",)
    assert question(found, "passed", "verdict").beside == "verdict"
    assert (judge.items, value(judge, "tpr"), judge.left_out) == (2, 0.5, {NO_JUDGE: 1})
    assert question(found, "passed", "verdict").type == "passed"


def test_a_verdict_of_several_checks_is_no_judges_answer(project: ReviewProject) -> None:
    tone = check(None, check="tone", judge="judge/tone@1.0.0", passed=True)
    short = check(None, check="short", kind="format", judge=None, passed=False)
    project.run([response(0, tone, short, passed=False)])
    project.bring([plain(0, True)])
    whole, alone, other = (
        agreement(project.ports, run=RUN, check=name) for name in (None, "tone", "short")
    )

    assert rubric(whole, "verdict").notes == (
        "the verdict is that of short, tone together; `check` compares one",
    )
    assert [question(one, "passed", "verdict").beside for one in (whole, alone, other)] == [
        "verdict",
        "judge",
        "check",
    ]
    assert judge_of(whole, "passed", "verdict").disagreements
    assert not judge_of(alone, "passed", "verdict").disagreements


@pytest.mark.parametrize("asked", ["tone", "judge/tone@1.0.0"])
def test_passes_stand_beside_the_check_that_people_were_asked_about(
    project: ReviewProject, asked: str
) -> None:
    tone = check(None, check="tone", judge="judge/tone@1.0.0", passed=False)
    unscored = {**tone, "status": "unscored", "passed": None}
    project.run([response(0, tone), response(1, unscored)])
    project.bring([plain(0, True, rubric=asked), plain(1, True, rubric=asked)])
    found = agreement(project.ports, run=RUN)
    judge = judge_of(found, "passed", asked)

    assert rubric(found, asked).judged_by == ("tone", "judge/tone@1.0.0")
    assert (judge.items, judge.left_out) == (1, {NO_JUDGE: 1})
    assert [(one.human, one.judge) for one in judge.disagreements] == [(1, 0)]


def test_a_check_can_be_named_for_passes(project: ReviewProject) -> None:
    project.run([response(0, check(None, check="tone", passed=False, judge=None))])
    project.bring([plain(0, True)])
    found = agreement(project.ports, run=RUN, check="tone")

    assert rubric(found, "verdict").judged_by == ("tone",)
    with pytest.raises(RequestError, match="no check 'gone' in run_1; there are: tone"):
        agreement(project.ports, run=RUN, check="gone")


def test_a_run_without_checks_says_that_there_is_none(project: ReviewProject) -> None:
    project.run([response(0)])
    project.bring([plain(0, True)])

    with pytest.raises(RequestError, match="there is none"):
        agreement(project.ports, run=RUN, check="gone")


def test_answers_and_a_pass_are_both_looked_at(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)])
    project.bring([label(0, answers=says(correct=1), passed=False)])
    found = agreement(project.ports, run=RUN)

    assert [one.key for one in rubric(found).questions] == ["correct", "passed"]
    assert rubric(found).judged_by == ("questions", "judge/questionnaire@1.0.0", "verdict")


def test_labels_of_no_run_are_left_out_of_a_run_and_counted(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)])
    alone = {name: one for name, one in label(0, "bob").items() if name != "run_id"}
    project.bring([label(0, answers=says(correct=1)), {**alone, "answers": says(correct=0)}])

    assert rubric(agreement(project.ports, run=RUN)).notes == (
        "1 label(s) are about no run and were left out",
    )
    assert rubric(agreement(project.ports)).labels == 2


def test_answers_to_questions_that_have_changed_are_counted(project: ReviewProject) -> None:
    project.run([judged(0, quality=5, correct=1)])
    project.bring([label(0, answers=says(quality=5, correct=1))])
    changed = json.loads(json.dumps(QUESTIONS))
    changed["questions"][1]["scale"] = {"min": 0, "max": 3}
    changed["questions"][0]["required"] = True
    project.write("rubrics/desk-v1.json", json.dumps(changed))
    found = rubric(agreement(project.ports, run=RUN))

    assert found.notes == (
        "1 answer(s) of the judge do not fit the rubric as it is now",
        "1 label(s) were given under other content of the rubric",
    )
    assert found.questions == ()


def test_a_rubric_that_is_gone_is_told(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)])
    project.bring([label(0, answers=says(correct=1), passed=True)])
    (project.root / "rubrics" / "desk-v1.json").unlink()
    found = rubric(agreement(project.ports, run=RUN))

    assert found.notes[0].startswith(f"answers were not looked at: cannot resolve {DESK}")
    assert [one.key for one in found.questions] == ["passed"]


def test_conversations_hold_their_records_together(project: ReviewProject) -> None:
    rows = [
        {**judged(place, correct=place % 2), "cluster": f"c{place // 2}"} for place in range(8)
    ]
    project.run(rows)
    project.bring([label(place, answers=says(correct=place % 3 % 2)) for place in range(8)])
    judge = judge_of(agreement(project.ports, run=RUN), "correct")

    assert any(one.method == "Cohen, Bayesian cluster bootstrap" for one in judge.estimates)


@pytest.mark.parametrize("options", [{}, {"run": RUN}, {"rubric": "desk-v1"}])
def test_nothing_to_compare_says_what_to_do(
    project: ReviewProject, options: dict[str, Any]
) -> None:
    project.run([judged(0, correct=1)])

    with pytest.raises(NotFoundError, match="brings labels in"):
        agreement(project.ports, **options)


def test_one_rubric_can_be_chosen(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)])
    project.bring([label(0, answers=says(correct=1)), plain(0, True)])

    assert len(agreement(project.ports).rubrics) == 2
    assert [one.rubric for one in agreement(project.ports, rubric="desk-v1").rubrics] == [DESK]


@pytest.mark.parametrize(
    "asked", ["rubric/tone@1.2", "rubric/tone@1.2.0", "tone@1.2", "tone@1.2.0"]
)
@pytest.mark.parametrize("said", ["rubric/tone@1.2", "rubric/tone@1.2.0"])
def test_labels_are_found_under_an_equal_version(
    project: ReviewProject, said: str, asked: str
) -> None:
    project.write(
        "rubrics/tone.yaml",
        "{id: tone, version: 1.2.0, checks: [{id: a, kind: is_json}], scoring: {combine: min}}",
    )
    project.run([judged(0, correct=1)])
    project.bring([{**plain(0, True), "rubric": said}])

    found = agreement(project.ports, rubric=asked)

    assert [one.rubric for one in found.rubrics] == ["rubric/tone@1.2.0"]


def test_another_version_is_another_rubric(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)])
    project.bring([{**plain(0, True), "rubric": "rubric/tone@1.2"}])

    with pytest.raises(NotFoundError, match=r"under rubric/tone@1\.2\.1; there are labels under "):
        agreement(project.ports, rubric="rubric/tone@1.2.1")


def test_the_same_under_an_equal_version_is_one_label(project: ReviewProject) -> None:
    project.run([judged(0, correct=1)])
    project.bring([{**plain(0, True), "rubric": "rubric/tone@1.2"}])

    again = project.bring([{**plain(0, True), "rubric": "rubric/tone@1.2.0"}])

    assert (again.same, again.imported) == (1, 0)


def test_plain_passes_are_found_under_the_name_of_a_question_rubric(
    project: ReviewProject,
) -> None:
    project.run([judged(0, correct=1)])
    project.bring([{**plain(0, True), "rubric": "desk-v1"}])

    assert [one.rubric for one in agreement(project.ports, rubric="desk-v1").rubrics] == [DESK]


def drawn_labels(*queues: tuple[str, float | None, float | None]) -> list[dict[str, Any]]:
    """Six responses each queue: a judge passes the first four; half of either people fail."""
    rows: list[dict[str, Any]] = []
    for start, (queue, if_passed, if_failed) in enumerate(queues):
        for place in range(6):
            chance = if_passed if place < 4 else if_failed
            row = label(6 * start + place, answers=says(correct=place % 2), queue_id=queue)
            rows.append(row if chance is None else {**row, "inclusion_prob": chance})
    return rows


@pytest.mark.parametrize(
    ("queues", "tpr", "said"),
    [
        ([("queue_a", 0.5, 0.5)], 2 / 3, ""),
        ([("queue_a", 0.1, 1.0)], 20 / 21, "weight each response by the inverse"),
        ([("queue_a", 0.1, 1.0), ("queue_b", None, None)], 20 / 21, "6 response(s) without an"),
        ([("queue_b", None, None)], 2 / 3, "of the picked responses alone"),
        ([("queue_a", 0.1, 1.0), ("queue_b", 0.5, 0.5)], None, "there is no TPR and TNR"),
    ],
)
def test_hit_rates_weight_responses_by_their_chances(
    project: ReviewProject,
    queues: list[tuple[str, float | None, float | None]],
    tpr: float | None,
    said: str,
) -> None:
    project.run([judged(place, correct=int(place % 6 < 4)) for place in range(6 * len(queues))])
    project.bring(drawn_labels(*queues))
    found = agreement(project.ports, run=RUN)
    known = {one.name: one.value for one in judge_of(found, "correct").estimates}

    assert known.get("tpr") == (None if tpr is None else pytest.approx(tpr))
    assert said in " ".join(rubric(found).notes)
    assert bool(said) is any("TPR" in note for note in rubric(found).notes)
