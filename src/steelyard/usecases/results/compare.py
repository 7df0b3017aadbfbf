"""Compare runs: whether they may be compared, and then whether one is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple, TypeAlias, cast

from steelyard.errors import InvalidError
from steelyard.model.statistics.comparison import (
    LEVEL,
    Comparison,
    CorrectedDifference,
    Difference,
    Dropped,
    Moved,
    Side,
    SliceDifference,
)
from steelyard.model.statistics.detection import Detectable
from steelyard.reports.run_text import RunView
from steelyard.stats.multiplicity import adjusted, holm_levels
from steelyard.stats.paired import paired_difference
from steelyard.usecases.results.common_records import common_records
from steelyard.usecases.results.comparability import mismatches_of
from steelyard.usecases.results.paired_rows import PairedRecord, read_records
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.results.record_pairs import Pair, clusters_of, detectable, discordance_of

POINTS = 5.0
"""The difference for which the number of records is given."""

Today: TypeAlias = Callable[[RunView], RunView]
"""A finished run with what is known of it by now."""
Indices: TypeAlias = Sequence[tuple[int, int]]
"""The places of each common record in A and in B."""
Correct: TypeAlias = "Callable[[RunView, RunView, Indices], CorrectedDifference | None]"
"""The difference as people would see it, over common records of two runs with labels."""


def _as_sealed(view: RunView) -> RunView:
    return view


def _uncorrected(_a: RunView, _b: RunView, _pairs: Indices) -> CorrectedDifference | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What the project knows about judges beside what the artifacts say."""

    today: Today = _as_sealed
    correct: Correct = _uncorrected


NOTHING_MORE = Knowledge()


class Loaded(NamedTuple):
    """A run that is read."""

    view: RunView
    records: dict[tuple[str, int], PairedRecord]


def compare(
    first: Path, second: Path, *, strict: bool = False, known: Knowledge = NOTHING_MORE
) -> Comparison:
    """What can be said about B against A, over the records that both have scored."""
    return compare_all([first, second], strict=strict, known=known)[0]


def compare_all(
    folders: Sequence[Path], *, strict: bool = False, known: Knowledge = NOTHING_MORE
) -> list[Comparison]:
    """Every pair of several runs, the earlier named as A; those with the first come first.

    With more than two runs the p-values hold for all pairs together (Holm), and each interval is
    at the level that its own p-value is held to, so that the two agree.
    """
    loaded = [Loaded(known.today(read_run(folder)), read_records(folder)) for folder in folders]
    found = [_compared(a, b, known, strict=strict) for a, b in combinations(loaded, 2)]
    return found if len(found) == 1 else _for_all(found, loaded)


def _for_all(found: Sequence[Comparison], loaded: Sequence[Loaded]) -> list[Comparison]:
    p_values = [one.passes.p_value for one in found]
    tested = [p_value for p_value in p_values if p_value is not None]
    levels = iter(holm_levels(tested, LEVEL))
    held: list[Comparison] = []
    for one, pair, p_value in zip(found, combinations(loaded, 2), p_values, strict=True):
        if p_value is None:
            held.append(one)
            continue
        level, holm_p = next(levels)
        common = _common(*pair)
        pairs = _scored(common)
        passes = _passes_of(pairs, level)
        held.append(
            replace(
                one,
                passes=replace(passes, p_value=holm_p, test=f"{passes.test}, Holm over all pairs"),
                scores=_scores_of(pairs, level),
                filled=_filled(common, level, favours_b=False),
                favoured=_filled(common, level, favours_b=True),
                unadjusted=one.passes,
                unadjusted_filled=one.filled,
                unadjusted_favoured=one.favoured,
                unadjusted_corrected=one.corrected,
                corrected=_widened(one.corrected, len(found)),
            )
        )
    return held


def _widened(one: CorrectedDifference | None, pairs: int) -> CorrectedDifference | None:
    """A corrected difference at the level that holds for so many pairs (Bonferroni)."""
    if one is None or one.value is None or one.low is None or one.high is None:
        return one
    level = LEVEL / pairs
    times = NormalDist().inv_cdf(1 - level / 2) / NormalDist().inv_cdf(1 - LEVEL / 2)
    low = one.value - times * (one.value - one.low)
    high = one.value + times * (one.high - one.value)
    return replace(one, low=max(-1.0, low), high=min(1.0, high), level=level)


def _common(a: Loaded, b: Loaded) -> list[Pair]:
    return [Pair(*pair) for pair in common_records(a.records, b.records).pairs]


def _scored(common: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in common if pair.a.scored and pair.b.scored]


def _compared(a: Loaded, b: Loaded, known: Knowledge, *, strict: bool) -> Comparison:
    shared = common_records(a.records, b.records)
    not_alike = (*mismatches_of(a.view.manifest, b.view.manifest), *shared.mismatches)
    refused = [found for found in not_alike if found.is_refused]
    if strict and refused:
        said = "; ".join(f"{found.what}: {found.a} and {found.b}" for found in refused)
        raise InvalidError(f"strict: these runs do not measure the same: {said}")
    common = [Pair(*pair) for pair in shared.pairs]
    pairs = _scored(common)
    only_a = sum(not pair.a.scored and pair.b.scored > 0 for pair in common)
    only_b = sum(pair.a.scored > 0 and not pair.b.scored for pair in common)
    passes = _passes_of(pairs)
    moved = [_moved(pair) for pair in pairs if pair.a.passed != pair.b.passed]
    moved.sort(key=lambda found: found[1].index)
    return Comparison(
        a=_side(a, [pair.a for pair in pairs]),
        b=_side(b, [pair.b for pair in pairs]),
        not_alike=not_alike,
        dropped=Dropped(
            only_in_a=len(a.records) - len(common),
            only_in_b=len(b.records) - len(common),
            no_score_in_a=only_a - shared.blanked[0],
            no_score_in_b=only_b - shared.blanked[1],
            no_score_in_both=len(common) - len(pairs) - only_a - only_b,
            other_checks=sum(shared.blanked),
            changed=shared.changed,
            invalid_in_b=shared.invalid,
        ),
        passes=passes,
        scores=_scores_of(pairs),
        filled=_filled(common, favours_b=False),
        favoured=_filled(common, favours_b=True),
        improvements=tuple(one for is_gain, one in moved if is_gain),
        regressions=tuple(one for is_gain, one in moved if not is_gain),
        slices=tuple(slices_of(pairs)),
        detectable=_detectable(pairs),
        corrected=known.correct(a.view, b.view, [(pair.a.index, pair.b.index) for pair in pairs])
        if pairs
        else None,
    )


def _side(run: Loaded, scored: list[PairedRecord]) -> Side:
    n = len(scored)
    return Side(
        run_id=run.view.run_id,
        title=run.view.title,
        records=len(run.records),
        rate=sum(record.passed for record in scored) / n if n else None,
        score=sum(record.score for record in scored) / n if n else None,
        corrected=run.view.metrics.corrected_pass_rate,
    )


def _passes_of(pairs: Sequence[Pair], level: float = LEVEL) -> Difference:
    return difference_of([pair.passed for pair in pairs], clusters_of(pairs), level)


def _scores_of(pairs: Sequence[Pair], level: float = LEVEL) -> Difference:
    return difference_of([pair.scored for pair in pairs], clusters_of(pairs), level)


def _filled(common: Sequence[Pair], level: float = LEVEL, *, favours_b: bool) -> Difference | None:
    """The passes with every score that only one run has filled in; None where there is none."""
    if not any(pair.is_uneven for pair in common):
        return None
    pairs = [pair for pair in common if pair.a.scored or pair.b.scored]
    values = [pair.filled(favours_b=favours_b) for pair in pairs]
    return difference_of(values, clusters_of(pairs), level)


def difference_of(
    values: Sequence[float], clusters: Sequence[int] | None, level: float = LEVEL
) -> Difference:
    """The mean of paired differences as a comparison shows it."""
    critical = None if level == LEVEL else NormalDist().inv_cdf(1 - level / 2)
    found = paired_difference(values, clusters, critical)
    return Difference(
        **asdict(found.interval), p_value=found.p_value, test=found.test, level=level
    )


def _detectable(pairs: Sequence[Pair]) -> Detectable | None:
    """How many records would show a difference of five points, asked as often as these were."""
    if not pairs:
        return None
    tries = [max(side) for side in zip(*((a.tries, b.tries) for a, b in pairs), strict=True)]
    return detectable(POINTS, min(tries), discordance_of(pairs))


def _moved(pair: Pair) -> tuple[bool, Moved]:
    is_gain = pair.b.passed > pair.a.passed
    worse = pair.a if is_gain else pair.b
    return is_gain, Moved(
        index=pair.b.index,
        record_id=pair.b.record_id,
        score_a=pair.a.score,
        score_b=pair.b.score,
        reason=worse.reason,
        index_a=pair.a.index,
    )


def slices_of(pairs: Sequence[Pair]) -> Iterator[SliceDifference]:
    """Each slice on its own, under p-values that hold for all of them."""
    members: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        for name, values in {**pair.a.slices, **pair.b.slices}.items():
            # A text where a project has the slice redacted.
            for value in (values,) if isinstance(values, str) else values:
                members.setdefault((name, value), []).append(pair)
    names = sorted(members)
    found = [_passes_of(members[name]) for name in names]
    held = adjusted([cast(float, one.p_value) for one in found])
    for (name, value), passes, p_value in zip(names, found, held, strict=True):
        yield SliceDifference(slice=name, value=value, passes=passes, adjusted_p=p_value)
