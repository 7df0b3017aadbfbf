"""Number of records needed to detect a difference, as text."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.statistics.detection import Detectable, Detection
from steelyard.reports.numbers import count, percent


def detection_lines(found: Detection) -> Iterator[str]:
    """Records needed, records available, and assumptions."""
    groups = f" in {found.clusters:,} conversations or other groups" if found.clusters else ""
    yield (
        f"  detect   a difference of {found.points:g} points needs about {found.records:,} "
        f"records{groups}{asked_text(found)} ({100 * found.power:.0f} % power)"
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
    """The source of the discordant share, and the design effect."""
    text = share_text(found)
    if len(found.runs) == 2:
        text += f", from {found.runs[1]} and {found.runs[0]}"
    if found.design_effect > 1:
        text += f"; design effect of dependent records {found.design_effect:.2f}"
    if found.pass_rate is not None:
        text += f"; the newest run passes {percent(found.pass_rate)}"
    return text


def asked_text(found: Detectable) -> str:
    """The number of repeats; empty for one."""
    return f", each asked {found.repeats} times" if found.repeats > 1 else ""


def share_text(found: Detectable) -> str:
    """The assumed disagreement rate of two runs, with the observed rate and its n."""
    share = f"{percent(found.discordant)} of records"
    differ = f"{share} pass in one run only"
    if found.between_repeats is not None:
        differ = f"single tries of the two runs disagree on {share}"
    if found.observed_discordant is None:
        text = f"assumed, because there are no two runs to compare: {differ}"
    else:
        seen = f"{percent(found.observed_discordant)} of {count(found.pairs)} seen"
        text = f"assumed: {differ} ({seen})"
    if found.between_repeats is not None:
        part = 100 * found.between_repeats / found.discordant
        return f"{text}, {part:.0f} % of that between repeats of one record"
    if found.repeats > 1:
        return f"{text}; repeats are assumed to agree and so to save no records"
    return text
