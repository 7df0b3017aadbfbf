"""What people say: votes, majorities, splits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.definitions import NOW
from steelyard.contracts.labels.reader import label_of
from steelyard.errors import RequestError
from steelyard.model.definition import Definition
from steelyard.model.finding import Finding
from steelyard.model.labels.label import Label
from steelyard.model.question import Answers
from steelyard.usecases.judges.label_sets import (
    LabelPlace,
    People,
    StatedLabel,
    is_in_split,
    label_set_sha256,
    labels_of_file,
    people_of,
    require_in_train,
    split_of,
)
from steelyard.usecases.registry.references import References
from steelyard.usecases.review.labels import KnownRubrics, LabelReader
from strategies.question_rubrics import question, rubric, sound

RUBRIC = sound(rubric(question("yes_no", key="good", label="Good?")))


class Nothing:
    """A project without rubrics and judges."""

    def all(self, _kind: str) -> list[Definition]:
        """No file."""
        return []

    def at(self, _name: str) -> Definition | None:
        """None either."""

    def published(self, _kind: str) -> list[Definition]:
        """No version."""
        return []


class Rubrics(KnownRubrics):
    """One rubric of questions."""

    def __init__(self) -> None:
        super().__init__(References(cast(Any, Nothing()), NOW))
        self._found = {"rubric/q": RUBRIC, "rubric/gone": "there is none"}


class Desk:
    """Finds nothing wrong but what a test says."""

    def __init__(self, wrong: str = "") -> None:
        self.wrong = wrong

    def answers(self, _label: Label, _value: object) -> tuple[Answers, list[Finding]]:
        """Nothing that a test looks at."""
        return Answers(), []

    def placed(self, label: Label) -> tuple[Label, list[Finding]]:
        """The label as it is."""
        found = [Finding(severity="error", code="dangling_reference", message=self.wrong)]
        return label, found if self.wrong else []


def a_label(record: str = "q1", answers: dict[str, int] | None = None, **more: Any) -> Label:
    row = {"record_id": record, "rubric": "r", "annotator": "ann", "exposure": "blind", **more}
    given = None if answers is None else Answers(trace=answers)
    return replace(label_of(row), answers=given)


def people(*labels: Label, rubric: str | None = None) -> People:
    return people_of(labels, Rubrics(), rubric)


@pytest.mark.parametrize(
    ("votes", "is_good"),
    [
        ({"a": True}, True),
        ({"a": False}, False),
        ({"a": True, "b": False}, None),
        ({"a": True, "b": False, "c": True}, True),
        ({"a": True, "b": False, "c": False}, False),
    ],
)
def test_the_majority_decides(votes: dict[str, bool], is_good: bool | None) -> None:
    found = people(*(a_label(annotator=name, passed=said) for name, said in votes.items()))

    assert found.by_response[LabelPlace("", "q1", 0)].is_good is is_good
    assert len(found.annotators) == len(votes)


def test_labels_are_about_a_response() -> None:
    found = people(
        a_label(passed=True),
        a_label(passed=False, repeat=1),
        a_label(passed=False, run_id="run_1", inclusion_prob=0.5),
    )

    assert {place: one.is_good for place, one in found.by_response.items()} == {
        ("", "q1", 0): True,
        ("", "q1", 1): False,
        ("run_1", "q1", 0): False,
    }
    assert found.by_response[LabelPlace("run_1", "q1", 0)].chances == {0.5}


@pytest.mark.parametrize(("good", "passed"), [(1, True), (0, False)])
def test_answers_pass_by_the_scoring_of_their_rubric(good: int, passed: bool) -> None:
    found = people(a_label(rubric="rubric/q", answers={"good": good}))

    assert found.by_response[LabelPlace("", "q1", 0)].is_good is passed


@pytest.mark.parametrize(
    "label",
    [
        a_label(rubric="rubric/q", answers={}),
        a_label(rubric="rubric/gone", answers={"good": 1}),
        a_label(rubric="rubric/q"),
    ],
)
def test_a_label_without_a_pass_is_counted(label: Label) -> None:
    found = people(label)

    assert (found.no_pass, found.by_response) == (1, {})


def test_labels_that_are_not_blind_are_counted_and_left_out() -> None:
    seen = [a_label(exposure=how, passed=True) for how in ("suggested", "after_commit")]
    found = people(a_label("q2", passed=True), *seen)

    assert (found.labels, found.not_blind, list(found.by_response)) == (3, 2, [("", "q2", 0)])


def test_labels_of_several_rubrics_need_a_choice() -> None:
    both = [a_label(passed=True), a_label(rubric="other", passed=False)]

    with pytest.raises(RequestError, match="name one with `rubric`: other, r"):
        people(*both)
    found = people(*both, rubric="other")
    assert (found.rubric, found.other_rubrics) == ("other", 1)
    assert found.by_response[LabelPlace("", "q1", 0)].is_good is False


@pytest.mark.parametrize("asked", [None, "rubric/a@1.0", "rubric/a@1.0.0"])
def test_equal_versions_are_one_rubric(asked: str | None) -> None:
    short = a_label(rubric="rubric/a@1.0", passed=True)
    found = people(short, a_label("q2", rubric="rubric/a@1.0.0", passed=False), rubric=asked)

    assert (found.rubric, found.other_rubrics, len(found.by_response)) == ("rubric/a@1.0.0", 0, 2)


def test_nobody_has_two_votes() -> None:
    same = people(a_label(passed=True), a_label(passed=True))
    assert same.by_response[LabelPlace("", "q1", 0)].votes == {"ann": True}

    with pytest.raises(RequestError, match="ann says both pass and fail of 'q1'"):
        people(a_label(passed=True), a_label(passed=False))


def test_splits_are_a_fifth_and_two_fifths_twice() -> None:
    sizes = Counter(split_of(f"q{number}", 0) for number in range(2_000))

    assert sizes["train"] == pytest.approx(400, abs=60)
    assert sizes["dev"] == pytest.approx(800, abs=75)
    assert sizes["test"] == pytest.approx(800, abs=75)


@pytest.mark.parametrize(
    ("record", "seed", "split"),
    [("q1", 0, "test"), ("q1", 1, "test"), ("q4", 0, "train"), ("\ud800", 0, "dev")],
)
def test_a_record_stays_in_its_split_for_ever(record: str, seed: int, split: str) -> None:
    assert split_of(record, seed) == split


@given(st.text(max_size=9), st.integers(0, 99))
def test_every_record_is_in_one_split_and_all_of_them_are_looked_at(name: str, seed: int) -> None:
    chosen = [is_in_split(name, choice, seed, ()) for choice in ("dev", "test")]

    assert sum(chosen) == (split_of(name, seed) != "train")
    assert is_in_split(name, "all", seed, ())
    assert not is_in_split(name, "all", seed, (name,))


def test_examples_must_lie_in_train() -> None:
    names = [f"q{number}" for number in range(30)]
    free = [name for name in names if split_of(name, 0) == "train"]
    bad = next(name for name in names if split_of(name, 0) == "test")

    require_in_train(free, names, 0)
    require_in_train([bad], free, 0)  # not labelled, so nobody compares it
    with pytest.raises(
        RequestError, match=f"'{bad}' is an example .* belongs to test.*in train are {min(free)}"
    ):
        require_in_train([bad], names, 0)
    with pytest.raises(RequestError, match=r"belong to train$"):
        require_in_train([bad], [bad], 0)


SAIDS = st.dictionaries(st.tuples(st.text(max_size=3), st.integers(0, 2)), st.booleans())


@given(SAIDS, st.randoms())
def test_the_hash_of_a_label_set_knows_no_order(said: Any, chance: Any) -> None:
    rows = [(place, StatedLabel(votes={"ann": good, "bob": True})) for place, good in said.items()]
    mixed = [(place, StatedLabel(votes=dict(reversed(one.votes.items())))) for place, one in rows]
    chance.shuffle(mixed)

    assert label_set_sha256(rows) == label_set_sha256(mixed)
    assert label_set_sha256(rows) != label_set_sha256([*rows, (("new", 9), StatedLabel())])


LINE = (
    b'{"record_id": "q1", "rubric": "r", "annotator": "a", "exposure": "blind", "passed": true}\n'
)


def read(data: bytes, wrong: str = "") -> list[Label]:
    return labels_of_file(cast(LabelReader, Desk(wrong)), BytesIO(data), Path("l.jsonl"))


def test_a_file_of_labels_is_read_whole() -> None:
    assert [label.record_id for label in read(LINE * 2)] == ["q1", "q1"]


@pytest.mark.parametrize(
    ("data", "wrong", "said"),
    [
        (LINE + b"{\n", "", "l.jsonl:2: invalid JSON"),
        (LINE * 3, "no record 'q1'", "l.jsonl:1: no record 'q1' \\(and 2 more like this\\)"),
        (b"", "", "holds no label"),
    ],
)
def test_one_wrong_label_stops_all(data: bytes, wrong: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        read(data, wrong)
