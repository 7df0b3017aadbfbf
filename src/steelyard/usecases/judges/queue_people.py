"""The votes of people in a file or in the project, all of them or those of one review queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.contracts.labels.reader import label_of
from steelyard.errors import InvalidError, argument
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.usecases.judges.label_sets import People, people_of
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.ports import Annotations


class LabelChoice(NamedTuple):
    """Which labels count."""

    queue: str | None
    """The review queue in which they were given; None for all."""
    rubric: str | None

    def has(self, label: Label) -> bool:
        """Whether a label was given in the queue, of a record that nobody picked."""
        return self.is_of_queue(label) and not label.is_picked

    def is_of_queue(self, label: Label) -> bool:
        """Whether a label was given in the queue."""
        return self.queue in {None, label.queue_id}


def people_of_project(
    annotations: Annotations, rubrics: KnownRubrics, choice: LabelChoice
) -> People:
    """The votes of the stored labels."""
    given = _Given(choice)
    for one in annotations.all(Wanted()):
        given.add(label_of(one.row))
    if not given.labels:
        raise InvalidError(
            f"the project keeps no annotations; name a file with {argument('labels')}"
        )
    labels = list(stored_labels(annotations, Wanted(), rubrics, choice.has))
    return _chosen(labels, given, rubrics)


def people_of_file(labels: Sequence[Label], rubrics: KnownRubrics, choice: LabelChoice) -> People:
    """The votes of the labels of a file."""
    given = _Given(choice)
    for label in labels:
        given.add(label)
    return _chosen([one for one in labels if choice.has(one)], given, rubrics)


class _Given:
    """What labels there are to choose from."""

    def __init__(self, choice: LabelChoice) -> None:
        self.choice = choice
        self.labels = self.picked = 0
        self.queues: set[str] = set()

    def add(self, label: Label) -> None:
        """One label."""
        self.labels += 1
        self.picked += self.choice.is_of_queue(label) and label.is_picked
        if label.queue_id:
            self.queues.add(label.queue_id)


def _chosen(labels: Sequence[Label], given: _Given, rubrics: KnownRubrics) -> People:
    choice = given.choice
    if not labels and choice.queue in {None, *given.queues}:
        raise InvalidError(
            "the labels are of records that somebody picked: they show errors of the judge, but "
            "not how frequent these are; draw a queue"
        )
    if not labels:
        known = ", ".join(sorted(given.queues)) or "none"
        raise InvalidError(f"no label was given in '{choice.queue}'; queues with labels: {known}")
    people = people_of(labels, rubrics, choice.rubric)
    people.labels, people.picked = given.labels, given.picked
    people.other_queues = given.labels - given.picked - len(labels)
    return people
