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
        return self.queue in {None, label.queue_id} and not label.is_picked


def people_of_project(
    annotations: Annotations, rubrics: KnownRubrics, choice: LabelChoice
) -> People:
    """The votes of the stored labels."""
    queues = [label_of(one.row).queue_id for one in annotations.all(Wanted())]
    if not queues:
        raise InvalidError(
            f"the project keeps no annotations; name a file with {argument('labels')}"
        )
    labels = list(stored_labels(annotations, Wanted(), rubrics, choice.has))
    return _chosen(labels, queues, rubrics, choice)


def people_of_file(labels: Sequence[Label], rubrics: KnownRubrics, choice: LabelChoice) -> People:
    """The votes of the labels of a file."""
    queues = [label.queue_id for label in labels]
    return _chosen([one for one in labels if choice.has(one)], queues, rubrics, choice)


def _chosen(
    labels: Sequence[Label],
    queues: Sequence[str | None],
    rubrics: KnownRubrics,
    choice: LabelChoice,
) -> People:
    if not labels and choice.queue in {None, *queues}:
        raise InvalidError(
            "the labels are of records that somebody picked: they show errors of the judge, but "
            "not how frequent these are; draw a queue"
        )
    if not labels:
        known = ", ".join(sorted({queue for queue in queues if queue})) or "none"
        raise InvalidError(f"no label was given in '{choice.queue}'; queues with labels: {known}")
    people = people_of(labels, rubrics, choice.rubric)
    people.labels = len(queues)
    people.other_queues = len(queues) - len(labels)
    return people
