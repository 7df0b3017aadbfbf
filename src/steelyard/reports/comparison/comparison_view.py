"""A comparison as pages and reports show it: the verdict in words, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.statistics.comparison import Comparison, Difference, SliceDifference
from steelyard.model.statistics.interval import Interval
from steelyard.reports.comparison.comparison_text import (
    corrected_lines,
    graded_text,
    is_by_judge_alone,
    left_out_of,
    mismatch_text,
    scores_text,
    uneven_text,
    warnings_of,
    why_not,
)
from steelyard.reports.comparison.settling import Settling, settling_of
from steelyard.reports.figures import Axis, Share
from steelyard.reports.numbers import count, counted, p_text, rate_text, signed_points
from steelyard.reports.sentence import sentence

FEWEST = 5
"""Slices with fewer pairs are folded."""
_HEADS = {
    "better": "B is better.",
    "worse": "B is worse.",
    "no difference detectable": "No difference detectable.",
    "cannot be compared": "A and B cannot be compared.",
}
_UNDECIDED = "Cannot be compared: missing scores could change the verdict."
_LOOKS = {
    "better": "B looks better",
    "worse": "B looks worse",
    "no difference detectable": "no difference is detectable",
}
_STYLES = {"better": "pass", "worse": "fail"}
NoteKind: TypeAlias = Literal["", "warn", "bad"]


class DifferenceRow(NamedTuple):
    """A difference with its interval on the common axis."""

    name: str
    basis: str
    """What it rests on, in a few words."""
    found: Difference
    is_lead: bool


class PairRate(NamedTuple):
    """A pass rate with its interval."""

    name: str
    found: Interval
    is_corrected: bool


class Note(NamedTuple):
    """Something a reader must know."""

    kind: NoteKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """What the parts of a comparison show."""

    found: Comparison
    head: str
    """The verdict: the largest text of a page."""
    style: str
    """`pass`, `fail` or empty: the colour of the verdict."""
    lead: str
    """The sentence that proves the verdict."""
    beside: tuple[str, ...]
    """What else is known and does not decide."""
    differences: tuple[DifferenceRow, ...]
    rates: tuple[PairRate, ...]
    settling: Settling | None
    next_step: tuple[str, str] | None
    """What to do where there is no verdict for want of pairs or scores, and the command."""
    notes: tuple[Note, ...]
    left_out: tuple[str, ...]
    scale: Axis
    slices: tuple[SliceDifference, ...]
    """Those that moved most surely come first."""
    more_slices: int
    """How many are not shown."""
    few: tuple[SliceDifference, ...]
    """Slices with fewer than five pairs."""
    slices_text: str


def comparison_view(found: Comparison, most_slices: int | None = None) -> ComparisonView:
    """The comparison in words and figures, with at most so many slices."""
    slices = sorted(found.slices, key=lambda one: (one.adjusted_p, -abs(one.passes.value or 0.0)))
    shown = [one for one in slices if not _is_few(one)]
    differences = tuple(_differences(found))
    return ComparisonView(
        found=found,
        head=_head(found),
        style=_STYLES.get(found.verdict, "") if found.is_comparable else "",
        lead=_lead(found),
        beside=tuple(_beside(found)),
        differences=differences,
        rates=tuple(_rates(found)),
        settling=settling_of(found),
        next_step=_next_step(found),
        notes=tuple(_notes(found)),
        left_out=tuple(f"{counted(number, 'record')} {why}" for number, why in left_out_of(found)),
        scale=_scale(differences),
        slices=tuple(shown[:most_slices]),
        more_slices=len(shown) - len(shown[:most_slices]),
        few=tuple(filter(_is_few, slices)),
        slices_text=_slices_text(found),
    )


def _is_few(one: SliceDifference) -> bool:
    return one.passes.n < FEWEST and not one.is_flagged


def difference_sentence(found: Difference) -> str:
    """B minus A in words, with what else fits the data."""
    if found.value is None or found.low is None or found.high is None:
        return "there is no difference to estimate"
    low, high = _size(found.low), _size(found.high)
    if not round(100 * found.value, 1):
        where = "B passes as often as A"
    else:
        side = "above" if found.value > 0 else "below"
        where = f"B is {_size(found.value)} points {side} A"
    if found.low < 0 < found.high:
        return f"{where}, and anything from {low} points worse to {high} points better fits"
    if found.low >= 0:
        return f"{where}; {low} to {high} points better fits"
    return f"{where}; {high} to {low} points worse fits"


def _head(found: Comparison) -> str:
    """The verdict; whether the runs may be compared comes before who is better."""
    if found.verdict == "cannot be compared":
        return _UNDECIDED if found.passes.n else _HEADS[found.verdict]
    if found.is_comparable:
        return _HEADS[found.verdict]
    return sentence(mismatch_text(found))


def _lead(found: Comparison) -> str:
    if found.verdict == "cannot be compared":
        return sentence(why_not(found))
    if found.is_doubted:
        return sentence(f"B is better on the pairs, but {uneven_text(found)}")
    said = f"{difference_sentence(found.corrected or found.passes)} the data"
    by = "corrected by what people said" if found.corrected else graded_text(found)
    said = f"{by}, {said}" if by else said
    if found.is_comparable:
        return sentence(said)
    return sentence(f"taken as they are, {_LOOKS[found.verdict]}: {said}")


def _beside(found: Comparison) -> Iterator[str]:
    if found.corrected and found.passes.value is not None:
        yield _judge_alone(found)
    elif not found.corrected:
        yield from map(sentence, corrected_lines(found))
    if found.do_scores_differ:
        yield sentence(f"the verdict is about passes: {scores_text(found)}")


def _judge_alone(found: Comparison) -> str:
    passes = found.passes
    ends = ""
    if passes.low is not None and passes.high is not None:
        ends = f" ({signed_points(passes.low)} to {signed_points(passes.high)})"
    says = {
        "better": f"calls B better by {_size(passes.value)} points{ends}",
        "worse": f"calls B worse by {_size(passes.value)} points{ends}",
    }.get(found.raw_verdict, f"sees {signed_points(passes.value or 0.0)} points{ends}")
    return f"The judge alone {says}. {_error(found)}its figure is raw and decides nothing here."


def _error(found: Comparison) -> str:
    """The error that the judge makes most often, as a reason to correct it."""
    for name, side in (("B", found.b), ("A", found.a)):
        if side.corrected is None:
            continue
        wrong = [
            (_turned(rate), does, called)
            for does, called, rate in (
                ("passes", "bad", side.corrected.tnr),
                ("fails", "good", side.corrected.tpr),
            )
            if rate is not None and rate.value is not None and rate.n
        ]
        if wrong:
            share, does, called = max(wrong, key=lambda one: one[0].value or 0.0)
            answers = f"answers of {name} that people call {called} (n = {share.n:,})"
            return f"It {does} {rate_text(share)} of the {answers}, so "
    return "Without people's labels to correct it, "


def _turned(rate: Interval) -> Interval:
    """How often a judge is wrong, from how often it is right."""
    ends = (rate.value, rate.low, rate.high)
    value, low, high = (None if one is None else 1 - one for one in ends)
    return Interval(value, high, low, rate.method, rate.n)


def _differences(found: Comparison) -> Iterator[DifferenceRow]:
    one, raw = found.corrected, found.passes
    if one:
        labels = f"{one.method}; {count(one.labels_a)} labels of A, {count(one.labels_b)} of B"
        yield DifferenceRow("Corrected", labels, one, is_lead=True)
    by = ", ".join(part for part in (raw.test, p_text(raw.p_value)) if part)
    basis = f"{counted(raw.n, 'pair')}, {by}" if raw.n else "no pairs"
    if raw.clusters is not None and raw.n_effective is not None and raw.n_effective < raw.n - 0.5:
        basis += f", {count(raw.clusters)} groups worth {raw.n_effective:,.0f} records"
    yield DifferenceRow(_raw_name(found), basis, raw, is_lead=not one)


def _raw_name(found: Comparison) -> str:
    if found.corrected or is_by_judge_alone(found):
        return "Raw, judge only"
    return "Raw, as graded" if graded_text(found) else "Pass rate"


def _rates(found: Comparison) -> Iterator[PairRate]:
    one = found.corrected
    if one:
        yield PairRate(
            "A corrected", _interval(one.rate_a, one.low_a, one.high_a, one.n), is_corrected=True
        )
        yield PairRate(
            "B corrected", _interval(one.rate_b, one.low_b, one.high_b, one.n), is_corrected=True
        )
    word = " raw" if one else ""
    for name, side in (("A", found.a), ("B", found.b)):
        rate = _interval(side.rate, side.low, side.high, found.passes.n)
        yield PairRate(f"{name}{word}", rate, is_corrected=False)


def _interval(value: float | None, low: float | None, high: float | None, n: int) -> Interval:
    return Interval(value, low, high, "", n)


def _notes(found: Comparison) -> Iterator[Note]:
    for text, is_serious in warnings_of(found):
        yield Note("bad" if is_serious else "warn", sentence(text))


def _next_step(found: Comparison) -> tuple[str, str] | None:
    """How two runs without a verdict can be made comparable; None where nothing is needed."""
    gone, run_id = found.dropped, found.a.run_id
    is_undecided = found.verdict == "cannot be compared" or found.is_doubted
    if not is_undecided:
        return None
    if gone.other_checks and not found.passes.n:
        what = "Grade the answers of A again, by the rubric of B:"
        return what, f"steelyard regrade {run_id} --rubric RUBRIC"
    if gone.no_score_in_a or gone.no_score_in_b or gone.no_score_in_both:
        lacking = [
            f"steelyard retry {side.run_id}"
            for side, missing in (
                (found.a, gone.no_score_in_a + gone.no_score_in_both),
                (found.b, gone.no_score_in_b + gone.no_score_in_both),
            )
            if missing
        ]
        return "Repeat the records that have no score:", "; ".join(lacking)
    if found.passes.n:
        return None
    what = "Ask both targets about the records of one dataset:"
    return what, "steelyard run DATASET --target A --target B"


def _scale(rows: Sequence[DifferenceRow]) -> Axis:
    """An axis around zero that holds every interval: 10, 25, 50 or 100 points to either side."""
    ends = [
        abs(end)
        for row in rows
        for end in (row.found.value, row.found.low, row.found.high)
        if end is not None
    ]
    widest = max(ends, default=0.0)
    reach = next((one for one in (0.1, 0.25, 0.5) if widest <= one), 1.0)
    return Axis(-reach, reach)


def ticks_of(scale: Axis) -> tuple[tuple[float, str], ...]:
    """Five ticks of a scale of differences, in points."""
    steps = (scale.low, scale.low / 2, 0.0, scale.high / 2, scale.high)
    return tuple((one, f"{100 * one:+g}" if one else "0") for one in steps)


def _slices_text(found: Comparison) -> str:
    if not found.passes.n:
        return "There are no pairs."
    if not found.slices:
        return "No record belongs to a slice."
    flagged = sum(one.is_flagged for one in found.slices)
    if not flagged:
        return f"None of {counted(len(found.slices), 'slice')} moved by more than chance."
    return f"{flagged:,} of {counted(len(found.slices), 'slice')} moved by more than chance."


def pair_shares(
    worse: int, better: int, pass_in_both: int, fail_in_both: int, mixed: int = 0
) -> tuple[Share, ...]:
    """The pairs by their outcome, for a figure with its legend."""
    rows = (
        ("down", worse, "worse in B"),
        ("up", better, "better in B"),
        ("same", pass_in_both, "pass in both"),
        ("same", fail_in_both, "fail in both"),
        ("same", mixed, "pass in as many repeats of both"),
    )
    return tuple(
        Share(kind, number, f"{number:,} {word}") for kind, number, word in rows if number
    )


def _size(value: float | None) -> str:
    return f"{abs(100 * (value or 0.0)):.1f}"
