"""How many records a difference needs, in words."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.detection import Detection
from steelyard.reports.numbers import percent


def detection_lines(found: Detection) -> Iterator[str]:
    """What is needed, what there is, and what was assumed."""
    groups = f" in {found.clusters:,} conversations or other groups" if found.clusters else ""
    tries = f", each asked {found.repeats} times" if found.repeats > 1 else ""
    yield (
        f"  detect   a difference of {found.points:g} points needs about {found.records:,} "
        f"records{groups}{tries} ({100 * found.power:.0f} % power)"
    )
    yield f"           this dataset has {found.valid_records:,}: {_enough(found)}"
    yield f"           {_assumed(found)}"


def _enough(found: Detection) -> str:
    if found.valid_records >= found.records:
        return "enough"
    if found.detectable_points is None:
        return "too few to show any difference"
    return f"enough to show a difference of {found.detectable_points:g} points"


def _assumed(found: Detection) -> str:
    """Where the share of discordant records is from, and what dependent records cost."""
    share = f"{percent(found.discordant)} of the records pass in only one of two runs"
    if len(found.runs) == 2:
        text = f"as in {found.runs[1]} and {found.runs[0]}, {share}"
    else:
        text = f"assumed, for want of two runs to compare: {share}"
    if found.design_effect > 1:
        text += f"; dependent records multiply what is needed by {found.design_effect:.2f}"
    if found.pass_rate is not None:
        text += f"; the newest run passes {percent(found.pass_rate)}"
    return text
