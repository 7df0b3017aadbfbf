"""Inclusion probabilities of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.model.labels.label import Design
from steelyard.model.statistics.validation import LabelledItem

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


def uneven_chances(items: Sequence[LabelledItem], design: Design) -> str:
    """The stratum within which the design requires equal probabilities, if they differ."""
    chances: dict[tuple[str, bool], set[float | None]] = {}
    for one in items:
        kind = {"random": True, "by_verdict": one.is_passed, "by_label": one.is_good}[design]
        chances.setdefault((one.run_id, kind), set()).add(one.inclusion_prob)
    return _WHERE[design] if any(len(found) > 1 for found in chances.values()) else ""
