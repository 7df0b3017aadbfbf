"""Gates of runs and comparisons, the same for every interface."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import cast

from steelyard.errors import InvalidError, argument
from steelyard.formats.json_fields import optional_number
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.statistics.comparison import (
    Comparison,
    CorrectedDifference,
    Difference,
    Measured,
)
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.gate import ALLOW_FAILURES, GateResult
from steelyard.model.statistics.interval import Interval
from steelyard.reports.comparison.comparison_text import points, rounded, scores_text, why_not
from steelyard.reports.numbers import count, counted, percent
from steelyard.results.manifest import Manifest
from steelyard.results.metrics import Metrics
from steelyard.stats.power import FEWEST_UNITS, records_for_width, records_to_detect

UNGATED = frozenset({"failed", "cancelled"})
"""The states in which gates do not apply."""
_WORSE_BY = re.compile(r"worse(?: by (\d+(?:\.\d+)?))?\Z")


class Gates(FrozenStruct, frozen=True, kw_only=True):
    """The gates of a run."""

    fail_under: float | None = None
    """Minimum pass rate."""
    fail_under_low: float | None = None
    """Minimum lower bound of the pass rate."""
    corrected: bool = False
    """Whether both apply to the corrected pass rate."""
    allow_failures: str = "0"
    """Maximum records without a score: a number, or a share such as 5%."""

    @classmethod
    def of(cls, kept: Mapping[str, JsonValue]) -> Gates:
        """The gates as stored with a run."""
        return cls(
            fail_under=optional_number(kept, "fail_under"),
            fail_under_low=optional_number(kept, "fail_under_low"),
            corrected=bool(kept.get("corrected")),
            allow_failures=cast(str, kept.get("allow_failures") or "0"),
        )

    def stored(self) -> JsonObject:
        """The gates as stored with a run."""
        return asdict(self)

    def require_use(self) -> None:
        """Refuse a correction without a gate."""
        if self.corrected and self.fail_under is None and self.fail_under_low is None:
            raise InvalidError(
                f"{argument('corrected')} says what {argument('fail_under')} and "
                f"{argument('fail_under_low')} look at; give one of them"
            )


def require_share(name: str, value: object) -> None:
    """Refuse a minimum rate that is not a rate, or that no run can fail."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise InvalidError(f"{name} is a share above 0, at most 1 (0.8 for 80 %), not {value!r}")


def require_allowed(name: str, text: str) -> None:
    """Refuse a value that is neither a number of records nor a share."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    most = 100.0 if text.endswith("%") else sys.float_info.max
    if not 0 <= number <= most:
        raise InvalidError(f"{name} is a number of records, or a share such as 5%, not '{text}'")


def evaluate_gates(metrics: Metrics, gates: Gates) -> list[GateResult]:
    """The result of every gate of a run; a gate without data fails."""
    return [*_rate_gates(metrics, gates), *_missing_gate(metrics, gates)]


def gates_of_run(manifest: Manifest, metrics: Metrics) -> tuple[GateResult, ...]:
    """The results of the run's own gates; none for an unfinished run."""
    kept = manifest.setup.options.gates
    if not kept or manifest.status in UNGATED:
        return ()
    return tuple(evaluate_gates(metrics, Gates.of(kept)))


def _rate_gates(metrics: Metrics, gates: Gates) -> Iterator[GateResult]:
    correction = metrics.corrected_pass_rate
    rate = correction if gates.corrected else metrics.pass_rate
    of, absent, why = "pass rate", "nothing was evaluated, so there is no rate for", ""
    if gates.corrected:
        why = f": {correction.reason if correction else 'no judge decides the results'}"
        of, absent = "corrected pass rate", "there is no corrected pass rate for"
    for name, what, reached, least in (
        ("fail-under", f"the {of}", rate and rate.value, gates.fail_under),
        (
            "fail-under-low",
            f"the lower bound of the {of}",
            rate and rate.low,
            gates.fail_under_low,
        ),
    ):
        if least is None:
            continue
        if rate is None or reached is None:
            reason = f"{absent} {name} {least}{why}"
            yield GateResult(name=name, passed=False, looked_at=what, reason=reason)
        else:
            yield _rate_gate(name, what, rate, reached, least)


def _rate_gate(
    name: str, what: str, rate: Interval | CorrectedRate, reached: float, least: float
) -> GateResult:
    shown = f"{what}, {percent(reached)}, n = {count(rate.n)}"
    if isinstance(rate, CorrectedRate) and rate.is_borrowed:
        shown += ", which assumes the judge errs as on the labelled run"
    reason = ""
    if reached < least:
        reason = f"{what} is {reached:.6g}, below {name} {least}; n = {count(rate.n)}"
    return GateResult(name=name, passed=not reason, looked_at=shown, reason=reason)


def _missing_gate(metrics: Metrics, gates: Gates) -> Iterator[GateResult]:
    """The number of missing records; one of three missing repeats counts as a third."""
    records = metrics.failed_records + metrics.skipped_records
    total, allowed = metrics.total_records, gates.allow_failures
    repeats, tries = metrics.unscored_repeats, metrics.repeats.k if metrics.repeats else 1
    is_over = _is_too_many(records * tries + repeats, total * tries, tries, allowed)
    parts = [f"{records:,} of {total:,} record(s)"] if records or not repeats else []
    if repeats:
        of = (total - records) * tries
        parts.append(f"{repeats:,} of {of:,} repeat(s){' of the others' if records else ''}")
    what = " and ".join(parts)
    yield GateResult(
        name=ALLOW_FAILURES,
        passed=not is_over,
        looked_at=f"{what} without a score",
        reason=f"{what} have no score, more than {ALLOW_FAILURES} {allowed}" if is_over else "",
        is_missing_scores=is_over,
    )


def _is_too_many(missing: int, total: int, tries: int, allowed: str) -> bool:
    """Whether the missing tries exceed the allowed records or share."""
    # Multiply instead of divide: 29 % of 100 would be just below 29.
    if allowed.endswith("%"):
        return missing * 100 > float(allowed[:-1]) * total
    return missing > float(allowed) * tries


class ComparisonGate(FrozenStruct, frozen=True, kw_only=True):
    """The gate of a comparison: fails if B is worse, or not shown to be within a margin."""

    text: str
    margin: float | None = None
    """In percentage points; None if any significant difference counts."""

    @classmethod
    def parse(cls, text: str) -> ComparisonGate:
        """`worse`, or `worse by N`."""
        found = _WORSE_BY.fullmatch(" ".join(text.split()))
        if not found:
            raise InvalidError(
                f"{argument('fail_if')} takes 'worse' or 'worse by N' (points), not '{text}'"
            )
        margin = float(found[1]) if found[1] else None
        if margin is not None and not 0 < margin < 100:
            raise InvalidError(
                f"{argument('fail_if')} 'worse by N': N is above 0 and below 100 points"
            )
        return cls(text=found[0], margin=margin)


def gate_comparison(found: Comparison, gate: ComparisonGate) -> GateResult:
    """Whether B passes; runs that cannot be compared never do.

    If scores that only one run lacks could change the result, the runs cannot be compared
    either.
    """
    result, against, favoured = (
        _gate(found, gate, seen) for seen in (found.pair, found.pair_against, found.pair_favoured)
    )
    result = replace(result, looked_at="; ".join((result.looked_at, *_beside(found, result))))
    is_hidden = result.passed and not against.passed
    is_removed = gate.margin is None and not result.passed and favoured.passed
    if found.verdict != "cannot be compared" and not is_hidden and not is_removed:
        return result
    favours_b = is_removed if is_hidden or is_removed else None
    reason = f"cannot be compared: {why_not(found, favours_b=favours_b)}"
    return replace(result, passed=False, is_undecided=True, reason=reason)


def _beside(found: Comparison, result: GateResult) -> Iterator[str]:
    """Limits of what a gate can detect."""
    yield from _too_few(found.pair.raw)
    if left := found.dropped.only_in_a:
        edited = found.dropped.changed
        how = f", {edited:,} of them edited (same id, other content)" if edited else ""
        yield f"{counted(left, 'record')} of A {'is' if left == 1 else 'are'} not in B{how}"
    if result.passed and found.scores.verdict == "worse":
        yield f"no gate looks at scores: {scores_text(found)}"


def _too_few(passes: Difference) -> Iterator[str]:
    units = passes.n if passes.clusters is None else passes.clusters
    if 0 < units < FEWEST_UNITS:
        few = counted(units, "record" if passes.clusters is None else "group")
        yield f"{few} {'is' if units == 1 else 'are'} too few to show any difference"


def _gate(found: Comparison, gate: ComparisonGate, seen: Measured) -> GateResult:
    return _worse(gate, seen) if gate.margin is None else _worse_by(found, gate, seen)


def _worse(gate: ComparisonGate, seen: Measured) -> GateResult:
    """The raw or corrected difference; the judge is to blame for a raw drop that the corrected
    interval excludes."""
    passes, corrected = seen
    looked_at = f"the raw difference {points(passes)}"
    if corrected:
        looked_at += f" and the corrected difference {points(corrected)}"
    is_excluded = bool(
        corrected and corrected.low is not None and (passes.value or 0.0) < corrected.low
    )
    reason = ""
    if corrected and corrected.verdict == "worse":
        reason = "B is worse by the corrected difference"
    elif passes.verdict == "worse" and not is_excluded:
        reason = "B is worse by the raw difference"
    elif passes.verdict == "worse":
        looked_at += "; the corrected interval excludes the raw drop"
    return GateResult(name=gate.text, passed=not reason, looked_at=looked_at, reason=reason)


def _worse_by(found: Comparison, gate: ComparisonGate, seen: Measured) -> GateResult:
    """B passes if the whole interval is above the margin; the corrected one too."""
    margin, (passes, corrected) = cast(float, gate.margin), seen
    looked_at = f"the lower bound of the raw difference {points(passes)}"
    reasons = [_missed(passes, margin, lambda: _raw_records(found, passes, margin))]
    if corrected:
        looked_at += f" and of the corrected difference {points(corrected)}"
        missed = _missed(corrected, margin, lambda: _labelled_records(corrected, margin))
        reasons = [f"by the corrected difference {missed}" if missed else "", *reasons]
    reason = next(filter(None, reasons), "")
    return GateResult(name=gate.text, passed=not reason, looked_at=looked_at, reason=reason)


def _missed(one: Difference, margin: float, needed: Callable[[], str]) -> str:
    """Why an interval does not show that B is within the margin; empty if it does."""
    if one.low is not None and 100 * one.low > -margin:
        return ""
    if one.high is not None and 100 * one.high < -margin:
        return f"B is worse by more than {margin:g} points"
    if one.verdict == "worse":
        return f"B is worse, and not shown to be worse by less than {margin:g} points"
    more = ""
    if (one.value or 0.0) > -margin / 100 and (records := needed()):
        more = f"; if it is not, about {records} would show that with 80 % power"
    return f"B may be worse by {margin:g} points or more{more}"


def _raw_records(found: Comparison, passes: Difference, margin: float) -> str:
    known = found.detectable
    if known is None:
        return ""
    records = records_to_detect(
        margin,
        known.discordant,
        known.design_effect,
        repeats=known.repeats,
        between_repeats=known.between_repeats,
    )
    return f"{count(rounded(max(records, passes.n + 1)))} records"


def _labelled_records(one: CorrectedDifference, margin: float) -> str:
    if one.low is None or one.high is None:
        return ""
    records = records_for_width((one.high - one.low) / 2, one.n, margin)
    return f"{count(rounded(max(records, one.n + 1)))} records, the same share of them labelled,"


def gate_comparisons(
    found: Sequence[Comparison], gate: ComparisonGate, *, strict: bool = False
) -> list[tuple[Comparison, GateResult]]:
    """Gate each run against the first; in strict mode a pass must cover all of that run.

    The first run itself is refused, a copy of its folder included: it would always pass.
    """
    first = found[0].a.run_id
    pairs = [one for one in found if one.a.run_id == first]
    if any(one.b.run_id == first for one in pairs):
        raise InvalidError(
            f"a gate cannot compare a run with itself: {first} is named twice, or a folder is a "
            "copy of it; name different runs"
        )
    results = [(one, gate_comparison(one, gate)) for one in pairs]
    return [(one, _strictly(one, result)) for one, result in results] if strict else results


def _strictly(found: Comparison, result: GateResult) -> GateResult:
    """The result; undecided if B's records could not have made it fail."""
    why = "; ".join(_unseen(found))
    if not result.passed or not why:
        return result
    reason = f"strict: the gate cannot pass: {why}"
    return replace(result, passed=False, is_undecided=True, reason=reason)


def _unseen(found: Comparison) -> Iterator[str]:
    """Reasons why a pass of B does not cover the records of A."""
    yield from _too_few(found.pair.raw)
    gone = found.dropped
    lost = {
        "missing": gone.only_in_a - gone.changed,
        "edited (same id, other content)": gone.changed,
        "invalid": gone.invalid_in_b,
    }
    losses = ", ".join(f"{number:,} {word}" for word, number in lost.items() if number)
    if losses:
        yield f"of {counted(found.a.records, 'record')} of A, in B: {losses}"
