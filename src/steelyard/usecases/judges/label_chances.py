"""The chances with which labels were chosen."""

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
    """Labels that were chosen at random within each verdict, with the chance that each had.

    `verdicts` has, by run, how often the judge passes and fails. The labels stay as they are where
    some have a chance already, or a verdict of a run has no label: nothing is known of it then.
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
    """Within what of a run a design makes all chances alike, where they are not."""
    chances: dict[tuple[str, bool], set[float | None]] = {}
    for one in items:
        kind = {"random": True, "by_verdict": one.is_passed, "by_label": one.is_good}[design]
        chances.setdefault((one.run_id, kind), set()).add(one.inclusion_prob)
    return _WHERE[design] if any(len(found) > 1 for found in chances.values()) else ""
