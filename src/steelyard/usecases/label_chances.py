"""The chance with which a label was chosen, where the judge's verdict decided on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.model.validation import LabelledItem


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
