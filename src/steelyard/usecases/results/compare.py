"""Compare runs: whether they are comparable, and whether one is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, compress, islice
from operator import attrgetter
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

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
from steelyard.reports.run.run_text import RunView
from steelyard.stats.multiplicity import adjusted, holm_levels
from steelyard.stats.paired import paired_difference
from steelyard.stats.rates import Clusters, Numbers, rate_interval
from steelyard.usecases.results.common_records import CommonRecords, common_records, without_score
from steelyard.usecases.results.comparability import mismatches_of
from steelyard.usecases.results.paired_rows import Records, read_records
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.results.record_pairs import (
    RecordPairs,
    RunColumns,
    detectable,
    discordance_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POINTS = 5.0
"""The difference, in points, for which the number of records is estimated."""

Today: TypeAlias = Callable[[RunView], RunView]
"""A finished run with current validations."""
Indices: TypeAlias = Sequence[tuple[int, int]]
"""The indices of each common record in A and in B."""
Correct: TypeAlias = "Callable[[RunView, RunView, Indices], CorrectedDifference | None]"
"""The difference by human labels, over common records of two labelled runs."""


def _as_sealed(view: RunView) -> RunView:
    return view


def _uncorrected(_a: RunView, _b: RunView, _pairs: Indices) -> CorrectedDifference | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """The project's current validations of judges."""

    today: Today = _as_sealed
    correct: Correct = _uncorrected


NOTHING_MORE = Knowledge()


class Loaded(NamedTuple):
    """A run that is read."""

    view: RunView
    records: Records


class Matched(NamedTuple):
    """The records of two runs, side by side."""

    a: Loaded
    b: Loaded
    shared: CommonRecords
    common: RecordPairs
    """The records that both runs have."""
    scored: RecordPairs
    """Those with a score in both."""


def compare(
    first: Path, second: Path, *, strict: bool = False, known: Knowledge = NOTHING_MORE
) -> Comparison:
    """Compare B with A over the records that both have scored."""
    return compare_all([first, second], strict=strict, known=known)[0]


def compare_all(
    folders: Sequence[Path], *, strict: bool = False, known: Knowledge = NOTHING_MORE
) -> list[Comparison]:
    """Compare every pair of several runs, with the earlier as A; pairs with the first come first.

    With more than two runs the p-values are adjusted for all pairs (Holm), and each interval
    has the level of its own adjusted test, so that the two agree.
    """
    found = _compared(list(combinations(_loaded(folders, known), 2)), known)
    if strict:
        for one in found:
            refuse_unlike(one)
    return found


def compare_with_first(
    folders: Sequence[Path], known: Knowledge = NOTHING_MORE
) -> list[Comparison]:
    """Compare each of several runs with the first, adjusted for these pairs alone (Holm)."""
    first, *others = _loaded(folders, known)
    return _compared([(first, other) for other in others], known)


def _loaded(folders: Sequence[Path], known: Knowledge) -> list[Loaded]:
    return [load_run(folder, known) for folder in folders]


def _compared(pairs: Sequence[tuple[Loaded, Loaded]], known: Knowledge) -> list[Comparison]:
    matched = [match_runs(a, b) for a, b in pairs]
    found = [compare_matched(one, known) for one in matched]
    return found if len(found) == 1 else _for_all(found, matched)


def load_run(folder: Path, known: Knowledge) -> Loaded:
    """A finished run with its records."""
    return Loaded(known.today(read_run(folder)), read_records(folder))


def match_runs(a: Loaded, b: Loaded) -> Matched:
    """The records that two runs have in common."""
    a, b = _with_unread(a, b), _with_unread(b, a)
    shared = common_records(a.records, b.records)
    common = RecordPairs(shared.pairs)
    return Matched(a, b, shared, common, common.scored_in_both())


def _with_unread(run: Loaded, other: Loaded) -> Loaded:
    """The run, with records that it may have selected and could not read, as the other has them.

    They have no score, like records that were cancelled. One with the id of a record that the run
    has is another version of that.
    """
    unread = run.view.metrics.unread_records or 0
    if not unread:
        return run
    ids = {one.record_id for one in run.records.values()}
    absent = (
        (key, one)
        for key, one in other.records.items()
        if key not in run.records and (one.record_id is None or one.record_id not in ids)
    )
    found = {key: without_score(one) for key, one in islice(absent, unread)}
    return run._replace(records={**run.records, **found})


def refuse_unlike(found: Comparison) -> None:
    """Refuse runs that do not measure the same."""
    if refused := [one for one in found.not_alike if one.is_refused]:
        differences = "; ".join(f"{one.what}: {one.a} and {one.b}" for one in refused)
        raise InvalidError(f"strict: these runs do not measure the same: {differences}")


def _for_all(found: Sequence[Comparison], matched: Sequence[Matched]) -> list[Comparison]:
    p_values = [one.passes.p_value for one in found]
    tested = [p_value for p_value in p_values if p_value is not None]
    levels = iter(holm_levels(tested, LEVEL))
    held: list[Comparison] = []
    for one, runs, p_value in zip(found, matched, p_values, strict=True):
        if p_value is None:
            held.append(one)
            continue
        level, holm_p = next(levels)
        common, pairs = runs.common, runs.scored
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
    """A corrected difference at the level for this number of pairs (Bonferroni)."""
    if one is None or one.value is None or one.low is None or one.high is None:
        return one
    level = LEVEL / pairs
    times = NormalDist().inv_cdf(1 - level / 2) / NormalDist().inv_cdf(1 - LEVEL / 2)
    low = one.value - times * (one.value - one.low)
    high = one.value + times * (one.high - one.value)
    return replace(one, low=max(-1.0, low), high=min(1.0, high), level=level)


def compare_matched(runs: Matched, known: Knowledge = NOTHING_MORE) -> Comparison:
    """Compare B with A."""
    a, b, shared, common, pairs = runs
    only_a = int(((common.a.scored == 0) & (common.b.scored > 0)).sum())
    only_b = int(((common.a.scored > 0) & (common.b.scored == 0)).sum())
    return Comparison(
        a=_side(a, pairs.a, pairs.clusters()),
        b=_side(b, pairs.b, pairs.clusters()),
        not_alike=(*mismatches_of(a.view.manifest, b.view.manifest), *shared.mismatches),
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
        passes=_passes_of(pairs),
        scores=_scores_of(pairs),
        filled=_filled(common, favours_b=False),
        favoured=_filled(common, favours_b=True),
        improvements=_moved(pairs, pairs.passed > 0, reasons=pairs.a),
        regressions=_moved(pairs, pairs.passed < 0, reasons=pairs.b),
        slices=tuple(slices_of(pairs)),
        detectable=_detectable(pairs),
        corrected=known.correct(a.view, b.view, pairs.indices) if pairs else None,
    )


def _side(run: Loaded, scored: RunColumns, clusters: Clusters | None) -> Side:
    rate = rate_interval(scored.passed, clusters, int(scored.scored.sum()))
    return Side(
        run_id=run.view.run_id,
        title=run.view.title,
        records=_size(run),
        rate=_mean(scored.passed),
        low=rate.low,
        high=rate.high,
        score=_mean(scored.score),
        corrected=run.view.metrics.corrected_pass_rate,
    )


def _size(run: Loaded) -> int:
    """How many records a run has, those included that it could not read."""
    metrics = run.view.metrics
    return metrics.total_records if metrics.unread_records else len(run.records)


def _mean(values: NDArray[np.float64]) -> float | None:
    return sum(values.tolist()) / len(values) if len(values) else None


def _passes_of(pairs: RecordPairs, level: float = LEVEL) -> Difference:
    return difference_of(pairs.passed, pairs.clusters(), level)


def _scores_of(pairs: RecordPairs, level: float = LEVEL) -> Difference:
    return difference_of(pairs.scores, pairs.clusters(), level)


def _filled(common: RecordPairs, level: float = LEVEL, *, favours_b: bool) -> Difference | None:
    """The passes with missing scores of one run filled in; None if none is missing."""
    if not common.is_uneven:
        return None
    pairs = common.scored_in_any()
    return difference_of(pairs.filled(favours_b=favours_b), pairs.clusters(), level)


def difference_of(values: Numbers, clusters: Clusters | None, level: float = LEVEL) -> Difference:
    """The mean of paired differences for a comparison."""
    critical = None if level == LEVEL else NormalDist().inv_cdf(1 - level / 2)
    found = paired_difference(values, clusters, critical)
    return Difference(
        **asdict(found.interval), p_value=found.p_value, test=found.test, level=level
    )


def _detectable(pairs: RecordPairs) -> Detectable | None:
    """How many records would show a difference of five points, with the same repeats."""
    if not pairs:
        return None
    repeats = int(min(pairs.a.tries.max(), pairs.b.tries.max()))
    return detectable(POINTS, repeats, discordance_of(pairs))


def _moved(
    pairs: RecordPairs, is_moved: NDArray[np.bool_], *, reasons: RunColumns
) -> tuple[Moved, ...]:
    """The records that pass more often in one run, with the other run's reason."""
    found = [
        Moved(
            index=b.index,
            record_id=b.record_id,
            score_a=a.score,
            score_b=b.score,
            reason=worse.reason,
            index_a=a.index,
        )
        for a, b, worse in compress(
            zip(pairs.a.records, pairs.b.records, reasons.records, strict=True), is_moved.tolist()
        )
    ]
    return tuple(sorted(found, key=attrgetter("index")))


def slices_of(pairs: RecordPairs) -> Iterator[SliceDifference]:
    """Each slice separately, with p-values adjusted for all slices."""
    members = slice_members(pairs)
    names = sorted(members)
    found = [_slice(pairs, name, members[name]) for name in names]
    held = adjusted([cast(float, one.passes.p_value) for one in found])
    for one, p_value in zip(found, held, strict=True):
        yield replace(one, adjusted_p=p_value)


def _slice(pairs: RecordPairs, name: tuple[str, str], members: list[int]) -> SliceDifference:
    clusters = pairs.clusters(members)
    rate_a, rate_b = (
        rate_interval(side.passed[members], clusters, int(side.scored[members].sum()))
        for side in (pairs.a, pairs.b)
    )
    return SliceDifference(
        slice=name[0],
        value=name[1],
        passes=difference_of(pairs.passed[members], clusters),
        rate_a=rate_a,
        rate_b=rate_b,
        adjusted_p=1.0,
    )


def slice_members(pairs: RecordPairs) -> dict[tuple[str, str], list[int]]:
    """The indices of the pairs in each slice; what many records share is looked at once."""
    alike: dict[tuple[int, int], list[int]] = {}
    for place, (a, b) in enumerate(zip(pairs.a.records, pairs.b.records, strict=True)):
        alike.setdefault((id(a.slices), id(b.slices)), []).append(place)
    members: dict[tuple[str, str], list[int]] = {}
    for places in alike.values():
        a, b = pairs.a.records[places[0]], pairs.b.records[places[0]]
        slices = b.slices if a.slices == b.slices else {**a.slices, **b.slices}
        for name, values in slices.items():
            for value in (values,) if isinstance(values, str) else values:
                members.setdefault((name, value), []).extend(places)
    for found in members.values():
        found.sort()
    return members
