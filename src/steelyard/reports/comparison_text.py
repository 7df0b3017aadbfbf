"""A comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from steelyard.model.comparison import LEVEL, Comparison, Difference, Moved, SliceDifference
from steelyard.model.json_value import JsonObject
from steelyard.reports.correction import corrected_text, is_corrected
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.numbers import count, percent
from steelyard.stats.power import times_for

SHOWN = 10
_STYLES = {"better": "good", "worse": "error", "no difference detectable": "warning"}


def comparison_lines(found: Comparison, paint: Paint = plain, shown: int = SHOWN) -> Iterator[str]:
    """Who was compared, whether that is fair, what came of it, and what moved."""
    yield f"A  {paint(printable(found.a.title), 'title')}  {found.a.run_id}"
    yield f"B  {paint(printable(found.b.title), 'title')}  {found.b.run_id}"
    yield f"  pairs      {_pairs(found)}"
    yield from (f"  {line}" for line in _warnings(found, paint))
    rates = f"A {percent(found.a.rate)}, B {percent(found.b.rate)}"
    yield f"  pass rate  {rates}, B − A {points(found.passes)}  {_test(found.passes)}"
    yield f"  score      {_means(found)}, B − A {shift(found.scores)}"
    yield f"  B is {paint(verdict(found), _STYLES[found.answer])}"
    yield from (f"  {line}" for line in corrected_lines(found))
    yield from _slices(found.slices)
    yield from _moved("worse", found.regressions, shown)
    yield from _moved("better", found.improvements, shown)


def corrected_lines(found: Comparison) -> Iterator[str]:
    """What people would see, as far as judges are validated; nothing where no judge decides."""
    rates = (found.a.corrected, found.b.corrected)
    if found.corrected:
        a, b = (percent(cast(JsonObject, rate)["value"]) for rate in rates)
        both = f"A {a}, B {b}, B − A {points(found.corrected)}"
        yield f"corrected  {both}  ({found.corrected.method})"
        yield f"corrected, B is {corrected_answer(found.corrected, found.passes.n)}"
        return
    for name, rate in zip("AB", rates, strict=True):
        if rate is not None and not is_corrected(rate):
            yield f"uncorrected {name}: {corrected_text(rate)}"


def corrected_answer(found: Difference, pairs: int) -> str:
    """What the corrected difference between so many pairs says, in words."""
    if found.low is not None and found.low > 0:
        return "better"
    if found.high is not None and found.high < 0:
        return "worse"
    times = times_for(found.value, found.low, found.high)
    if times is None:
        return "neither better nor worse: no difference detectable"
    more = count(_rounded((times - 1) * pairs))
    settled = f"about {more} more records, the same share of them labelled, would settle it"
    return f"neither better nor worse: no difference detectable; {settled}"


def verdict(found: Comparison) -> str:
    """The answer in words."""
    if found.answer != "no difference detectable":
        return f"{found.answer}{'' if found.is_comparable else ', if the runs can be compared'}"
    if found.more_records is None:
        return f"neither better nor worse: no difference at all in {count(found.passes.n)} pairs"
    settled = f"about {count(_rounded(found.more_records))} more records would settle it"
    return f"neither better nor worse: no difference detectable; {settled}"


def _rounded(number: int) -> int:
    """Two digits: the number is an estimate."""
    digits = max(0, len(str(number)) - 2)
    return -(-number // 10**digits) * 10**digits


def points(found: Difference) -> str:
    """A difference of rates in percentage points."""
    if found.value is None or found.low is None or found.high is None:
        return "–"
    return f"{100 * found.value:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def shift(found: Difference) -> str:
    """A difference of means."""
    if found.value is None or found.low is None or found.high is None:
        return "–"
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def p_text(p_value: float | None) -> str:
    """A p-value as far as it says something."""
    if p_value is None:
        return "p –"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def warnings_of(found: Comparison) -> Iterator[tuple[str, bool]]:
    """What makes the comparison less than fair, and whether that is serious."""
    for one in found.mismatches:
        yield f"{one.what} differs: {one.a} in A, {one.b} in B", one.is_serious
    gone = found.dropped
    if found.missing_p <= LEVEL:
        said = f"{count(gone.no_score_in_a)} in A alone, {count(gone.no_score_in_b)} in B alone"
        yield f"scores are missing unevenly: {said} ({p_text(found.missing_p)})", True


def _pairs(found: Comparison) -> str:
    gone = found.dropped
    left = [
        f"{count(number)} {word}"
        for number, word in (
            (gone.only_in_a, "only in A"),
            (gone.only_in_b, "only in B"),
            (gone.no_score_in_a, "without a score in A"),
            (gone.no_score_in_b, "without a score in B"),
            (gone.no_score_in_both, "without a score in both"),
        )
        if number
    ]
    dropped = f"; left out: {', '.join(left)}" if left else ""
    return f"{count(found.passes.n)} records that both have scored{dropped}"


def _warnings(found: Comparison, paint: Paint) -> Iterator[str]:
    for said, is_serious in warnings_of(found):
        style = "error" if is_serious else "warning"
        yield f"{paint('not alike' if is_serious else 'note', style):<9}  {printable(said)}"


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
        yield f"  slices     none of {count(len(slices))} moved by more than chance"


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
    """Pairwise answers of several runs."""
    for one in found:
        names = f"{printable(one.b.title)} against {printable(one.a.title)}"
        numbers = f"{points(one.passes)}, {p_text(one.passes.p_value)}, n = {count(one.passes.n)}"
        mark = "" if one.is_comparable else "  (not alike)"
        yield f"{names}: {one.answer}  {numbers}{mark}"
