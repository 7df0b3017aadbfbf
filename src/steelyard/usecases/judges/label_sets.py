"""Human labels of responses: votes, majorities, and the labels of a split."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from steelyard.contracts.labels.reader import is_gold, jsonl_labels, read_labels
from steelyard.errors import InvalidError, argument
from steelyard.judging.question_scores import question_score
from steelyard.model.labels.label import Label
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.statistics.validation import Split, SplitChoice
from steelyard.usecases.review.labels import KnownRubrics, LabelReader

_SHARES: tuple[tuple[Split, float], ...] = (("train", 0.2), ("dev", 0.6), ("test", 1.0))
"""The cumulative share of items at which each split ends."""


class LabelPlace(NamedTuple):
    """A labelled response."""

    run_id: str
    """Empty for a label of the record itself."""
    record_id: str
    repeat: int


@dataclass(slots=True)
class StatedLabel:
    """The votes on one response."""

    votes: dict[str, bool] = field(default_factory=dict[str, bool])
    """By person."""
    drawn: set[tuple[str, float | None]] = field(default_factory=set[tuple[str, float | None]])
    """The queues in which it was labelled, with its inclusion probability; an empty name stands
    for labels outside of queues."""

    @property
    def chances(self) -> set[float | None]:
        """The inclusion probabilities that its labels name."""
        return {chance for _, chance in self.drawn}

    @property
    def is_good(self) -> bool | None:
        """The majority; None if people are divided evenly."""
        yes = sum(self.votes.values())
        return None if 2 * yes == len(self.votes) else 2 * yes > len(self.votes)

    def add(self, person: str, passed: bool, where: str) -> None:
        """Add a vote; each person has one."""
        if self.votes.setdefault(person, passed) is not passed:
            raise InvalidError(f"{person} says both pass and fail of {where}")


@dataclass(slots=True)
class People:
    """All votes, and the labels that were left out."""

    by_response: dict[LabelPlace, StatedLabel] = field(
        default_factory=dict[LabelPlace, StatedLabel]
    )
    rubric: str = ""
    annotators: set[str] = field(default_factory=set[str])
    labels: int = 0
    not_blind: int = 0
    other_rubrics: int = 0
    other_content: int = 0
    other_queues: int = 0
    picked: int = 0
    no_pass: int = 0


def labels_of_file(reader: LabelReader, stream: BinaryIO, path: Path) -> list[Label]:
    """The labels of a file; an invalid one is an error, because the result depends on all."""
    labels: list[Label] = []
    wrong: list[str] = []
    rows = (row for row in jsonl_labels(stream) if not is_gold(row.value))
    for row in read_labels(rows, reader.answers):
        found = list(row.findings)
        if row.label is not None:
            label, misplaced = reader.placed(row.label)
            labels.append(label)
            found.extend(misplaced)
        wrong.extend(f"{path}:{row.line}: {one.message}" for one in found if one.is_error)
    if wrong:
        more = f" (and {len(wrong) - 1} more like this)" if len(wrong) > 1 else ""
        raise InvalidError(f"{wrong[0]}{more}")
    if not labels:
        raise InvalidError(f"{path} holds no label")
    return labels


def people_of(labels: Sequence[Label], rubrics: KnownRubrics, rubric: str | None) -> People:
    """The votes from labels: only blind labels of one rubric count."""
    people = People(labels=len(labels))
    blind = [label for label in labels if label.is_blind]
    people.not_blind = len(labels) - len(blind)
    asked = {rubrics.whole_name(label.rubric) for label in blind}
    if rubric is None and len(asked) > 1:
        names = ", ".join(sorted(asked))
        raise InvalidError(
            f"the labels are about several rubrics; name one with {argument('rubric')}: {names}"
        )
    people.rubric = rubrics.whole_name(rubric) if rubric else next(iter(asked), "")
    for label in blind:
        if rubrics.whole_name(label.rubric) != people.rubric:
            people.other_rubrics += 1
            continue
        if rubrics.is_under_other_content(label):
            people.other_content += 1
            continue
        passed = label_passed(label, rubrics)
        if passed is None:
            people.no_pass += 1
            continue
        people.annotators.add(label.annotator)
        place = LabelPlace(label.run_id or "", label.record_id, label.repeat)
        stated = people.by_response.setdefault(place, StatedLabel())
        stated.add(label.annotator, passed, f"'{label.record_id}'")
        stated.drawn.add((label.queue_id or "", label.inclusion_prob))
    return people


def label_passed(label: Label, rubrics: KnownRubrics) -> bool | None:
    """Whether a person passes a response, directly or by the score of their answers."""
    if label.passed is not None:
        return label.passed
    rubric = rubrics.questions(label.rubric)
    if rubric is None or label.answers is None:
        return None
    score = question_score(rubric, label.answers).value
    stated = rubric.scoring.pass_threshold if rubric.scoring else None
    return None if score is None else score >= (PASS_THRESHOLD if stated is None else stated)


def split_of(record_id: str, seed: int) -> Split:
    """The split of a record, by its hash, so that it is the same on every machine."""
    digest = hashlib.sha256(f"{seed}:{record_id}".encode("utf-8", "surrogatepass")).digest()
    share = int.from_bytes(digest[:8], "big") / 2**64
    return next(split for split, upto in _SHARES if share < upto)


def is_in_split(record_id: str, choice: SplitChoice, seed: int, examples: Sequence[str]) -> bool:
    """Whether a label counts: examples of the judge never do."""
    if choice == "all":
        return record_id not in examples
    return split_of(record_id, seed) == choice


def require_in_train(examples: Sequence[str], labelled: Iterable[str], seed: int) -> None:
    """Refuse a judge whose examples are outside of train."""
    known = set(labelled)
    for example in examples:
        split = split_of(example, seed)
        if example in known and split != "train":
            free = sorted(name for name in known if split_of(name, seed) == "train")
            hint = f"; in train are {', '.join(free[:5])}" if free else ""
            raise InvalidError(
                f"'{example}' is an example of the judge and belongs to {split}: examples must "
                f"belong to train{hint}"
            )


def label_set_sha256(stated: Iterable[tuple[tuple[str, int], StatedLabel]]) -> str:
    """The hash over labels, independent of their order and of the run."""
    rows = sorted(json.dumps([*place, sorted(one.votes.items())]) for place, one in stated)
    return hashlib.sha256("\n".join(rows).encode("ascii")).hexdigest()
