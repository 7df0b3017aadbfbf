"""Verdicts beside labels: which count, which do not, and in whatever order they come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.judged_runs import a_row, a_score, write_run
from fakes.validations import JUDGE, RULE
from steelyard.errors import RequestError
from steelyard.model.statistics.validation import Counts
from steelyard.usecases.judges.judge_against_people import (
    AskedInstrument,
    ComparedLabels,
    compared,
    counts_of,
)
from steelyard.usecases.judges.label_sets import LabelPlace, People, StatedLabel, split_of
from strategies.effort import examples

ASKED = AskedInstrument(judge=JUDGE, split="all", design="random", source="labels.jsonl")
COUNT = 40


def verdict(index: int) -> bool:
    return index % 3 != 0


def truth(index: int) -> bool:
    return index % 4 != 0


def said(is_good: bool, *others: bool, chance: float | None = None) -> StatedLabel:
    votes = dict(zip("abc", (is_good, *others), strict=False))
    return StatedLabel(votes=votes, drawn={("", chance)})


def people(**more: Any) -> People:
    found = {LabelPlace("run_1", f"q{index}", 0): said(truth(index)) for index in range(COUNT)}
    known: dict[str, Any] = {"by_response": found, "rubric": "r", "labels": COUNT, **more}
    return People(annotators={"a"}, **known)


def rows(**more: Any) -> list[dict[str, Any]]:
    return [a_row(index, verdict(index), **more) for index in range(COUNT)]


def expected(indices: Any = range(COUNT)) -> Counts:
    pairs = [(truth(index), verdict(index)) for index in indices]
    return Counts(
        tp=pairs.count((True, True)),
        fn=pairs.count((True, False)),
        tn=pairs.count((False, False)),
        fp=pairs.count((False, True)),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of forty records."""
    return write_run(tmp_path / "run_1", rows(slices={"tags": ["a"], "topic": ["x", "y"]}))


def compare(folder: Path, given: People | None = None, **more: Any) -> ComparedLabels:
    return compared(replace(ASKED, **more), given or people(), [folder], "2026-05-01")


def test_a_judge_is_counted_against_people(folder: Path) -> None:
    found = compare(folder)
    validation = found.validation

    assert validation.counts == expected() == counts_of(validation.items)
    assert (validation.judge, validation.rule, validation.fingerprints) == (JUDGE, RULE, ("mark",))
    assert (found.check, found.refusals) == ("right", ())
    assert found.places == {folder: tuple(range(COUNT))}
    assert sum(found.splits.values()) == COUNT
    assert (validation.rubric, validation.annotators) == ("r", 1)
    assert set(validation.populations) == {"run_1"}


def test_every_slice_has_its_counts(folder: Path) -> None:
    slices = compare(folder).validation.slices

    assert [(one.slice, one.value) for one in slices] == [
        ("tags", "a"),
        ("topic", "x"),
        ("topic", "y"),
    ]
    assert {one.counts for one in slices} == {expected()}


@settings(
    max_examples=examples(15),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.randoms(use_true_random=False))
def test_the_order_of_labels_changes_nothing(folder: Path, chance: Random) -> None:
    given_ = people()
    places = list(given_.by_response)
    chance.shuffle(places)
    mixed = replace(given_, by_response={place: given_.by_response[place] for place in places})

    assert compare(folder, mixed) == compare(folder, given_)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_split_has_the_items_of_its_own(folder: Path, split: Any) -> None:
    found = compare(folder, split=split).validation
    own = [index for index in range(COUNT) if split_of(f"q{index}", 0) == split]

    assert found.counts == expected(own)
    assert found.left_out.other_splits == COUNT - len(own)


def test_what_does_not_count_is_counted(tmp_path: Path) -> None:
    made = rows()
    made[0] = a_row(0, None)
    made[1]["evaluator_scores"] = []
    made[2]["evaluator_scores"] = [a_score(None, status="skipped")]
    given_ = people(not_blind=3, other_rubrics=2, no_pass=1)
    given_.by_response[LabelPlace("run_1", "q3", 0)] = said(True, False)
    given_.by_response[LabelPlace("run_1", "q99", 0)] = said(True)
    given_.by_response[LabelPlace("run_x", "q4", 0)] = said(True, True)
    left = compare(write_run(tmp_path / "run_1", made), given_).validation.left_out

    assert (left.unscored, left.without_judgement, left.ties) == (1, 3, 1)
    assert (left.not_blind, left.other_rubrics, left.no_pass, left.other_runs) == (3, 2, 1, 2)


@pytest.mark.parametrize(("unscored", "is_refused"), [(0, False), (1, True)])
def test_more_than_a_fiftieth_unscored_is_refused(
    tmp_path: Path, unscored: int, is_refused: bool
) -> None:
    made = rows()
    for index in range(unscored):
        made[index] = a_row(index, None)
    found = compare(write_run(tmp_path / "run_1", made))

    assert any("no score for 1 of 40" in why for why in found.refusals) is is_refused


def test_a_fiftieth_is_allowed(tmp_path: Path) -> None:
    made = [a_row(index, verdict(index) if index else None) for index in range(50)]
    given_ = People(
        by_response={
            LabelPlace("run_1", f"q{index}", 0): said(truth(index)) for index in range(50)
        },
        labels=50,
    )

    assert compare(write_run(tmp_path / "run_1", made), given_).refusals == ()


@pytest.mark.parametrize(("good", "why"), [(True, "people pass all"), (False, "people pass none")])
def test_labels_of_one_sort_are_refused(folder: Path, good: bool, why: str) -> None:
    given_ = People(
        by_response={LabelPlace("run_1", f"q{index}", 0): said(good) for index in range(20)}
    )

    assert any(why in one for one in compare(folder, given_).refusals)


def test_no_label_at_all_is_refused(folder: Path) -> None:
    found = compare(folder, People(by_response={LabelPlace("run_1", "q99", 0): said(True)}))

    assert found.refusals == ("no labelled response has a verdict of the judge",)


def test_different_chances_are_no_lot(folder: Path) -> None:
    given_ = people()
    given_.by_response[LabelPlace("run_1", "q1", 0)] = said(True, chance=0.5)

    assert any("different inclusion" in why for why in compare(folder, given_).refusals)
    (why,) = compare(folder, given_, design="by_verdict").refusals
    assert "their inclusion probabilities are not known" in why


def test_labels_chosen_by_verdict_have_the_chances_that_the_run_shows(folder: Path) -> None:
    """Of 26 that pass, 13 are labelled; of 14 that fail, all."""
    chosen = [n for n in range(COUNT) if not verdict(n)]
    chosen += [n for n in range(COUNT) if verdict(n)][:13]
    given_ = people(by_response={LabelPlace("run_1", f"q{n}", 0): said(truth(n)) for n in chosen})
    found = compare(folder, given_, design="by_verdict")

    assert {(one.is_passed, one.inclusion_prob) for one in found.validation.items} == {
        (True, 0.5),
        (False, 1.0),
    }
    assert found.refusals == ()


def test_what_is_asked_about_the_labelled_responses_alone_shows_no_chances(folder: Path) -> None:
    found = compare(folder, design="by_verdict", is_asked_now=True)

    assert "TPR and TNR are of the labelled sample only" in found.refusals[0]
    assert not found.validation.has_weights


def test_labels_of_one_verdict_alone_say_nothing_of_the_other(folder: Path) -> None:
    failed = [n for n in range(COUNT) if not verdict(n)]
    given_ = people(by_response={LabelPlace("run_1", f"q{n}", 0): said(truth(n)) for n in failed})
    (why,) = compare(folder, given_, design="by_verdict").refusals

    assert "no response that it passes is labelled" in why


@pytest.mark.parametrize(("ties", "is_refused"), [(0, False), (1, False), (2, True)])
def test_a_few_items_may_divide_people(tmp_path: Path, ties: int, is_refused: bool) -> None:
    made = [a_row(index, verdict(index)) for index in range(60)]
    given_ = people(
        by_response={
            LabelPlace("run_1", f"q{n}", 0): said(truth(n), *([not truth(n)] if n < ties else []))
            for n in range(60)
        }
    )
    found = compare(write_run(tmp_path / "run_1", made), given_)

    assert found.validation.left_out.ties == ties
    assert any("divided evenly on 2 of 60" in why for why in found.refusals) is is_refused


def test_a_refusal_for_ties_names_the_split_and_the_items(folder: Path) -> None:
    tied = [f"q{n}" for n in range(60) if split_of(f"q{n}", 0) == "test"][:2]
    given_ = people(
        by_response={
            LabelPlace("run_1", f"q{n}", 0): said(
                truth(n), *([not truth(n)] if f"q{n}" in tied else [])
            )
            for n in range(60)
        }
    )
    found = compare(folder, given_, split="test", queue="queue_1")
    inside = found.validation.counts.n + 2
    (why,) = [one for one in found.refusals if "divided" in one]

    assert f"on 2 of {inside} labelled responses in the test split (" in why
    assert inside < 60
    assert "), of 60 labelled in all;" in why
    assert f"let one more person label {tied[0]}, {tied[1]} (" in why
    assert "progress page" in why


def test_two_chances_of_one_record_cannot_be(folder: Path) -> None:
    given_ = people()
    given_.by_response[LabelPlace("run_1", "q1", 0)] = StatedLabel(
        votes={"a": True}, drawn={("", 0.5), ("", 0.25), ("", None)}
    )

    with pytest.raises(
        RequestError, match=r"'q1' has two inclusion probabilities: 0\.25 and 0\.5"
    ):
        compare(folder, given_)


def test_labels_of_a_run_are_labels_of_what_regrades_it(tmp_path: Path) -> None:
    first = write_run(tmp_path / "run_1", rows())
    derived = {"run_id": "run_1", "how": "regrade", "folder": str(first)}
    second = write_run(tmp_path / "run_2", rows(), derived_from=derived)
    given_ = people()
    renamed = {place._replace(run_id="run_1"): one for place, one in given_.by_response.items()}
    both = {
        **renamed,
        LabelPlace("run_2", "q0", 0): StatedLabel(votes={"b": False}, drawn={("", None)}),
    }
    found = compare(second, replace(given_, by_response=both)).validation

    assert found.counts.n == COUNT
    assert found.left_out.other_runs == 0
    assert {item.run_id for item in found.items} == {"run_2"}


def test_several_runs_need_labels_that_say_which(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, rows()) for name in ("run_1", "run_2")]
    given_ = people()
    half = {
        place._replace(run_id="run_1" if number % 2 else "run_2"): one
        for number, (place, one) in enumerate(given_.by_response.items())
    }
    found = compared(ASKED, replace(given_, by_response=half), folders, "now").validation

    assert found.counts == expected()
    assert set(found.populations) == {"run_1", "run_2"}


@pytest.mark.parametrize("is_asked_now", [False, True])
def test_labels_that_name_no_run_are_of_responses_stated_with_them_alone(
    folder: Path, is_asked_now: bool
) -> None:
    """They may have been given for another run."""
    given_ = people()
    nowhere = {place._replace(run_id=""): one for place, one in given_.by_response.items()}
    found = compare(
        folder, replace(given_, by_response=nowhere), is_asked_now=is_asked_now
    ).validation

    assert found.left_out.no_run == (0 if is_asked_now else COUNT)
    assert found.counts.n == (COUNT if is_asked_now else 0)


def test_an_id_wins_over_an_index_that_is_written_like_it(tmp_path: Path) -> None:
    """The record called 1 comes first and is good; the one in place 1 is called otherwise."""
    made = [a_row(0, True, record_id="1"), a_row(1, False, record_id="x")]
    given_ = People(by_response={LabelPlace("run_1", "1", 0): said(True)})
    found = compare(write_run(tmp_path / "run_1", made), given_).validation

    assert [(item.index, item.is_passed) for item in found.items] == [(0, True)]


def test_a_record_without_an_id_is_found_by_its_place(tmp_path: Path) -> None:
    made = [a_row(0, True, record_id=None), a_row(1, False, record_id=None)]
    given_ = People(by_response={LabelPlace("run_1", "1", 0): said(True)})
    found = compare(write_run(tmp_path / "run_1", made), given_).validation

    assert [item.index for item in found.items] == [1]


def test_examples_outside_train_are_refused(folder: Path) -> None:
    bad = next(f"q{n}" for n in range(COUNT) if split_of(f"q{n}", 0) == "dev")

    with pytest.raises(RequestError, match="belongs to dev"):
        compare(folder, examples=(bad,))


@pytest.mark.parametrize(
    ("more", "said_"),
    [
        ({"judge": "judge/other@1.0.0"}, r"what is judged there: right \(judge/right@1\.0\.0\)"),
        ({"check": "wrong"}, "in the check 'wrong' decides nothing"),
    ],
)
def test_a_judge_that_decides_nothing_is_told(
    folder: Path, more: dict[str, Any], said_: str
) -> None:
    with pytest.raises(RequestError, match=said_):
        compare(folder, **more)


def test_a_run_without_judges_is_told(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run_1", rows(evaluator_scores=[]))

    with pytest.raises(RequestError, match="nothing is judged there"):
        compare(folder)


def test_a_judge_of_two_checks_needs_a_choice_and_a_rubric_takes_any(tmp_path: Path) -> None:
    both = [a_score(True), a_score(False, check="other", judge="judge/a@1.0.0, judge/b@1.0.0")]
    twice = [a_score(True), a_score(False, check="other")]
    jury = write_run(tmp_path / "run_1", rows(evaluator_scores=both))
    alike = write_run(tmp_path / "run_2", rows(evaluator_scores=twice))

    with pytest.raises(RequestError, match="name one with `check`: right, other"):
        compare(alike)
    with pytest.raises(RequestError, match="name one with `check`: right, other"):
        compare(jury, judge="rubric/panel@1.0.0")
    found = compare(jury, judge="rubric/panel@1.0.0", check="other")
    assert found.validation.judge == "rubric/panel@1.0.0 other"


@pytest.mark.parametrize(
    ("details", "said_"),
    [
        ({"calls": []}, "was not kept: the run is of an earlier version"),
        ({"rule": "llm_judge at 0.5"}, "different rules: llm_judge at 0.5; llm_judge at 0.7"),
    ],
)
def test_a_pass_must_mean_the_same_everywhere(
    tmp_path: Path, details: dict[str, Any], said_: str
) -> None:
    made = rows()
    made[0]["evaluator_scores"] = [a_score(True, details=details)]

    with pytest.raises(RequestError, match=said_):
        compare(write_run(tmp_path / "run_1", made))
