"""A comparison as text and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.comparison import (
    LEVEL,
    SELECTION,
    Comparison,
    Difference,
    Moved,
    SliceDifference,
)
from steelyard.reports.detection import asked_text, share_text
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.judges.correction import corrected_text
from steelyard.reports.numbers import count, counted, p_text, percent, signed, signed_points
from steelyard.stats.power import records_for_width

SHOWN = 10
_STYLES = {"better": "good", "worse": "error"}


def comparison_lines(found: Comparison, paint: Paint = plain, shown: int = SHOWN) -> Iterator[str]:
    """The compared runs, the verdict, its basis, and the changed records."""
    yield f"A  {paint(printable(found.a.title), 'title')}  {found.a.run_id}"
    yield f"B  {paint(printable(found.b.title), 'title')}  {found.b.run_id}"
    yield f"  verdict    {paint(verdict_text(found), _style(found))}"
    yield from (f"  {line}" for line in corrected_lines(found))
    yield f"  {'raw' if found.corrected else 'pass rate':<9}  {_raw(found)}"
    yield f"  score      {_means(found)}, B − A {shift(found.scores)}"
    yield f"  pairs      {_pairs(found)}"
    yield from (f"  {line}" for line in _warnings(found, paint))
    if found.verdict == "no difference detectable":
        yield from (f"  more       {line}" for line in needed_lines(found))
    yield from _slices(found.slices)
    yield from _moved("worse", found.regressions, shown)
    yield from _moved("better", found.improvements, shown)


def _style(found: Comparison) -> str:
    return _STYLES.get(found.verdict, "warning") if found.is_comparable else "warning"


def verdict_text(found: Comparison) -> str:
    """The verdict as text; second where the two numbers do not mean the same."""
    if found.verdict == "cannot be compared":
        return f"A and B cannot be compared: {why_not(found)}"
    text = {
        "better": "B is better than A",
        "worse": "B is worse than A",
        "no difference detectable": "no difference detectable between A and B",
    }[found.verdict]
    by = ", corrected by people's labels" if found.basis == "corrected" else _raw_note(found)
    doubt = "" if found.is_comparable else f"{mismatch_text(found)}; taken as they are, "
    return "; ".join((f"{doubt}{text}{by}", *_beside(found)))


def mismatch_text(found: Comparison) -> str:
    """Why the numbers of two runs do not mean the same; empty where they do."""
    serious = [one.what for one in found.not_alike if one.is_serious]
    if not serious:
        return ""
    verb = "differs" if len(serious) == 1 and serious != ["repeats"] else "differ"
    names = " and ".join(part for part in (", ".join(serious[:-1]), serious[-1]) if part)
    return f"not comparable as they stand: {names} {verb}"


def _raw_note(found: Comparison) -> str:
    """A note that the verdict is not corrected by labels; empty without a judge."""
    graded = graded_text(found)
    return f", {graded} (raw, not corrected)" if graded else ""


def graded_text(found: Comparison) -> str:
    """Whose verdicts are compared; the judge's only if it decides alone. Empty without a judge."""
    rates = [side.corrected for side in (found.a, found.b)]
    if not any(rates):
        return ""
    if is_by_judge_alone(found):
        return "as the judge sees it"
    return "as graded, not by a judge alone"


def is_by_judge_alone(found: Comparison) -> bool:
    """Whether a judge decides every result of both runs."""
    rates = (found.a.corrected, found.b.corrected)
    return all(rate is not None and rate.is_by_judge_alone for rate in rates)


def _beside(found: Comparison) -> Iterator[str]:
    """Notes on apparent contradictions."""
    if found.is_doubted:
        yield f"B is better on the pairs, but {uneven_text(found)}"
    if found.do_scores_differ:
        yield f"the verdict is about passes: {scores_text(found)}"


def scores_text(found: Comparison) -> str:
    """The difference of the mean scores."""
    word = "higher" if found.scores.verdict == "better" else "lower"
    return f"B's scores are {word} by {abs(found.scores.value or 0.0):.3f}"


def why_not(found: Comparison, *, favours_b: bool | None = None) -> str:
    """Why two runs cannot be compared: with missing scores for B, or against B."""
    gone = found.dropped
    if not found.passes.n:
        common = gone.no_score_in_a + gone.no_score_in_b + gone.no_score_in_both
        if gone.other_checks:
            return (
                f"none of their {count(common + gone.other_checks)} common records has a score by "
                "the same checks in both runs"
            )
        if common:
            return f"none of their {count(common)} common records has a score in both runs"
        return "they have no record in common; records are the same where their content is"
    if favours_b is None:
        favours_b = (found.corrected or found.passes).verdict == "worse"
    return uneven_text(found, favours_b=favours_b)


def uneven_text(found: Comparison, *, favours_b: bool = False) -> str:
    """The effect of missing scores on the difference."""
    gone = found.dropped
    parts = [
        f"{counted(number, 'record')} in {name} alone"
        for number, name in ((gone.no_score_in_b, "B"), (gone.no_score_in_a, "A"))
        if number
    ]
    if gone.other_checks:
        parts.append(f"{count(gone.other_checks)} records graded by other checks")
    missing = " and ".join(parts) or "repeats of records"
    how = "in favour of" if favours_b else "against"
    filled = found.pair_favoured if favours_b else found.pair_against
    return (
        f"scores are missing unevenly ({missing}); with those {how} B the difference would be "
        f"{points(filled.raw)}"
    )


def corrected_lines(found: Comparison) -> Iterator[str]:
    """Corrected pass rates or the reason for none; empty without a judge."""
    one = found.corrected
    if one:
        rates = f"A {percent(one.rate_a)}, B {percent(one.rate_b)}, B − A {points(one)}"
        labels = f"{count(one.labels_a)} labels of A, {count(one.labels_b)} of B"
        yield f"corrected  {rates}  ({labels}, n = {count(one.n)})"
        return
    for name, side in (("A", found.a), ("B", found.b)):
        rate = side.corrected
        if rate is not None and not rate.is_corrected:
            yield f"uncorrected {name}: {corrected_text(rate)}"
        elif rate is not None:
            yield (
                f"corrected {name}, over the whole run: {corrected_text(rate)}; it does not "
                "decide the verdict, which needs labels of both runs on their common records"
            )


def _raw(found: Comparison) -> str:
    rates = f"A {percent(found.a.rate)}, B {percent(found.b.rate)}"
    text = f"{rates}, B − A {points(found.passes)}  {_test(found.passes)}"
    if found.corrected:
        return f"{text}; as the judge sees it: {found.raw_verdict}"
    return text


def needed_lines(found: Comparison) -> Iterator[str]:
    """Records needed to detect a difference of five points, whatever the observed difference.

    None if only missing scores prevent a verdict: more records do not help.
    """
    if found.is_doubted:
        return
    known, one = found.detectable, found.corrected
    if one and one.low is not None and one.high is not None:
        records = records_for_width((one.high - one.low) / 2, one.n, known.points if known else 5)
        wanted = f"about {count(rounded(records))} records, the same share of them labelled"
        yield f"to detect a corrected difference of 5 points takes {wanted}"
    elif known:
        by = f"80 % power; {share_text(known)}"
        if known.design_effect > 1:
            by += f"; dependent records count {1 / known.design_effect:.2f} each"
        records = f"about {count(rounded(known.records))} records{asked_text(known)}"
        yield f"to detect a difference of {known.points:g} points takes {records} ({by})"


def rounded(number: int) -> int:
    """Round up to two digits: the number is an estimate."""
    digits = max(0, len(str(number)) - 2)
    return -(-number // 10**digits) * 10**digits


def points(found: Difference, *, level: bool = False) -> str:
    """A difference of rates in percentage points; with its level if requested or not 95 %."""
    if found.value is None or found.low is None or found.high is None:
        return "–"
    ends = f"[{signed_points(found.low)}, {signed_points(found.high)}]"
    if level or not math.isclose(found.level, LEVEL):
        ends += f" at {100 * (1 - found.level):.1f} %"
    return f"{signed_points(found.value)} points {ends}"


def shift(found: Difference) -> str:
    """A difference of means."""
    if found.value is None or found.low is None or found.high is None:
        return "–"
    return f"{signed(found.value)} [{signed(found.low)}, {signed(found.high)}]"


def warnings_of(found: Comparison) -> Iterator[tuple[str, bool]]:
    """Differences between the runs that limit the comparison, and whether they are serious."""
    chosen = [one for one in found.not_alike if one.what in SELECTION]
    for one in found.not_alike:
        if one not in chosen:
            verb = "differ" if one.what == "repeats" else "differs"
            yield f"{one.what} {verb}: {one.a} in A, {one.b} in B", one.is_serious
    if chosen:
        how = ", ".join(f"{one.what} {one.a} in A, {one.b} in B" for one in chosen)
        yield f"selection differs ({how}): {_covered(found)}", False


def _covered(found: Comparison) -> str:
    """The records that the verdict covers, and those that it does not."""
    gone = found.dropped
    return (
        f"the verdict is about the {counted(found.common, 'record')} that both runs have, not "
        f"about {count(gone.only_in_a)} only in A and {count(gone.only_in_b)} only in B"
    )


def left_out_of(found: Comparison) -> Iterator[tuple[int, str]]:
    """The number of records that form no pair, by reason."""
    gone = found.dropped
    rows = (
        (gone.only_in_a - gone.changed, "only in A"),
        (gone.only_in_b - gone.changed, "only in B"),
        (gone.no_score_in_a, "without a score in A"),
        (gone.no_score_in_b, "without a score in B"),
        (gone.no_score_in_both, "without a score in both"),
        (gone.other_checks, "graded by other checks"),
        (gone.changed, "with the same id and other content"),
    )
    return (row for row in rows if row[0])


def _pairs(found: Comparison) -> str:
    left = [f"{count(number)} {why}" for number, why in left_out_of(found)]
    dropped = f"; left out: {', '.join(left)}" if left else ""
    grouped = ""
    if found.passes.clusters is not None and found.passes.n_effective is not None:
        worth = f"{found.passes.n_effective:,.0f} independent ones"
        grouped = f", in {count(found.passes.clusters)} groups that count as about {worth}"
    return f"{counted(found.passes.n, 'record')} with a score in both runs{grouped}{dropped}"


def _warnings(found: Comparison, paint: Paint) -> Iterator[str]:
    for text, is_serious in warnings_of(found):
        style = "error" if is_serious else "warning"
        yield f"{paint('not alike' if is_serious else 'note', style):<9}  {printable(text)}"


def _means(found: Comparison) -> str:
    means = ("–" if one.score is None else f"{one.score:.3f}" for one in (found.a, found.b))
    return "A {}, B {}".format(*means)


def _test(found: Difference) -> str:
    return f"({found.test}, {p_text(found.p_value)}, n = {count(found.n)})"


def _slices(slices: Sequence[SliceDifference]) -> Iterator[str]:
    flagged = [one for one in slices if one.is_flagged]
    for one in flagged:
        name = printable(f"{one.slice} = {one.value}")
        held = p_text(one.adjusted_p).replace("p", "adjusted p", 1)
        yield f"  slice      {name}  {points(one.passes)}  n = {count(one.passes.n)}, {held}"
    if slices and not flagged:
        yield f"  slices     none of {count(len(slices))} changed by more than chance"


def _moved(word: str, moved: Sequence[Moved], shown: int) -> Iterator[str]:
    if not moved:
        return
    yield f"  {word} in B ({count(len(moved))})"
    for one in moved[:shown]:
        name = one.record_id if one.record_id is not None else f"record {one.index}"
        scores = f"{one.score_a:.2f} → {one.score_b:.2f}"
        yield f"    {printable(name)}  {scores}  {printable(one.reason or '', ' ')}".rstrip()
    if len(moved) > shown:
        yield f"    … and {count(len(moved) - shown)} more (--format json lists all)"


def table_lines(found: Sequence[Comparison]) -> Iterator[str]:
    """Verdicts of several runs, one line per pair."""
    runs = {side.run_id: side.title for one in found for side in (one.a, one.b)}
    for run_id, title in runs.items():
        yield f"{run_id}  {printable(title)}"
    yield (
        f"{counted(len(found), 'pair')}; p-values are adjusted for all of them (Holm), each "
        "interval at its own level"
    )
    for one in found:
        held = f"{p_text(one.passes.p_value)}, n = {count(one.passes.n)}"
        numbers = f"{points(one.passes, level=True)}, {held}"
        doubt = "" if one.is_comparable else f"{mismatch_text(one)}; taken as they are, "
        by = ", corrected" if one.basis == "corrected" else _raw_note(one)
        raw = f"raw ({one.raw_verdict}) " if one.corrected else ""
        pair = f"{one.b.run_id} against {one.a.run_id}"
        yield f"  {pair}: {doubt}{one.verdict}{by}  {raw}{numbers}"
        if reason := _reason(one):
            yield f"    {reason}"
        if one.do_scores_differ:
            yield f"    the verdict is about passes: {scores_text(one)}"
        if one.corrected:
            yield f"    corrected {points(one.corrected, level=True)}"
        yield from (f"    {line}" for line in _table_notes(one))


def _reason(found: Comparison) -> str | None:
    """Why the verdict differs from the result of the pairs."""
    if found.verdict == "cannot be compared":
        return why_not(found)
    return uneven_text(found) if found.is_doubted else None


def _table_notes(found: Comparison) -> Iterator[str]:
    """Notes on a line of the table: records left out, corrections, differences."""
    if any(asdict(found.dropped).values()):
        yield f"pairs: {_pairs(found)}"
    if not found.corrected:
        yield from corrected_lines(found)
    for text, is_serious in warnings_of(found):
        yield f"{'not alike' if is_serious else 'note'}: {printable(text)}"


def comparison_json(found: Comparison, gate: JsonObject | None = None) -> JsonObject:
    """The comparison as one JSON object."""
    row = cast(JsonObject, asdict(found))
    row |= {
        "verdict": found.verdict,
        "basis": found.basis,
        "reason": _reason(found),
        "raw_verdict": found.raw_verdict,
        "corrected_verdict": found.corrected.verdict if found.corrected else None,
        "pairs": found.passes.n,
        "comparable": found.is_comparable,
        "gate": gate,
    }
    return row
