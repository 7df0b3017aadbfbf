"""The votes of people on the responses of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.votes import ResponseVotes
from steelyard.usecases.judges.label_sets import label_passed
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import response_runs

VotesByResponse: TypeAlias = Mapping[tuple[str, int], ResponseVotes]
"""By the name that labels give a record, its id or its index, and by repeat."""


def response_votes(ports: ReviewPorts, folder: Path) -> VotesByResponse:
    """The votes on the responses of a run, by the rubric that most of its labels are about.

    Only blind labels count, as for the validation of a judge. A later label of a person on the
    same response replaces an earlier one.
    """
    rubrics = KnownRubrics(ports.references)
    wanted = Wanted(runs=response_runs(folder))
    labels = [
        label
        for label in stored_labels(ports.annotations, wanted, rubrics)
        if label.is_blind and not rubrics.is_under_other_content(label)
    ]
    names = Counter(rubrics.whole_name(label.rubric) for label in labels)
    rubric = max(names, key=lambda name: names[name], default=None)
    votes: dict[tuple[str, int], dict[str, bool]] = {}
    for label in labels:
        passed = label_passed(label, rubrics)
        if passed is not None and rubrics.whole_name(label.rubric) == rubric:
            place = label.record_id, label.repeat
            votes.setdefault(place, {})[label.annotator] = passed
    return {place: ResponseVotes(sum(said.values()), len(said)) for place, said in votes.items()}
