"""Inclusion probabilities of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.errors import InvalidError, argument
from steelyard.model.labels.label import Design
from steelyard.model.statistics.validation import LabelledItem
from steelyard.usecases.judges.label_sets import StatedLabel

_WHERE: Mapping[Design, str] = {
    "random": "run",
    "by_verdict": "verdict of the judge",
    "by_label": "class (good or bad)",
}


def with_chances(
    items: Sequence[LabelledItem], verdicts: Mapping[str, Mapping[bool, int]]
) -> tuple[LabelledItem, ...]:
    """Labels sampled at random within each verdict, with their inclusion probabilities.

    `verdicts` has the number of passes and fails of the judge, by run. The labels stay
    unchanged if some have a probability already, or a verdict of a run has no label.
    """
    chosen = Counter((one.run_id, one.is_passed) for one in items)
    is_given = any(one.inclusion_prob is not None for one in items)
    sizes = {
        (run, verdict): size
        for run, counted in verdicts.items()
        for verdict, size in counted.items()
        if size
    }
    if is_given or not all(chosen[group] for group in sizes):
        return tuple(items)
    return tuple(
        replace(one, inclusion_prob=chosen[group] / sizes[group])
        for one in items
        for group in [(one.run_id, one.is_passed)]
    )


def require_one_design(run_id: str, stated: Sequence[StatedLabel]) -> None:
    """Refuse to mix labels of several queues, unless each has all records.

    With which chance a record is in one queue or another is not known: a queue keeps it for the
    records that it has.
    """
    drawn = [pair for one in stated for pair in one.drawn if pair[1] is not None]
    labels = Counter(queue for queue, _ in drawn)
    if len(labels) == 1 or all(chance == 1 for _, chance in drawn):
        return
    listed = ", ".join(
        f"{queue or 'outside of queues'} ({number:,})" for queue, number in labels.most_common()
    )
    raise InvalidError(
        f"responses of {run_id} were drawn for people more than once, each time with other "
        f"chances: {listed} labelled; name one queue with {argument('queue')}"
    )


def uneven_chances(items: Sequence[LabelledItem], design: Design) -> str:
    """The stratum within which the design requires equal probabilities, if they differ."""
    chances: dict[tuple[str, bool], set[float | None]] = {}
    for one in items:
        kind = {"random": True, "by_verdict": one.is_passed, "by_label": one.is_good}[design]
        chances.setdefault((one.run_id, kind), set()).add(one.inclusion_prob)
    return _WHERE[design] if any(len(found) > 1 for found in chances.values()) else ""
