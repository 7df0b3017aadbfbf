"""The results of pairwise runs, from their artifacts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.gate import GateResult
from steelyard.model.statistics.preference import Pick, Winner
from steelyard.reports.comparison.comparison_text import rounded
from steelyard.reports.comparison.pairwise_text import ComparedResponses, PairwiseView, Strength
from steelyard.reports.numbers import count, rate_text
from steelyard.results.manifest import Manifest
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import PairwisePrediction, read_pairwise_row
from steelyard.stats.bradley_terry import Contest, strengths_of
from steelyard.stats.multiplicity import holm_levels
from steelyard.stats.orders import SHARES, winner_of_record
from steelyard.stats.paired import LEVEL
from steelyard.stats.position import position_bias
from steelyard.stats.power import records_to_detect
from steelyard.stats.preference import Preference, preference
from steelyard.usecases.results.gates import FEWEST_UNITS, ComparisonGate
from steelyard.usecases.results.read_run import decoded_rows, read_run


class JudgedPair(NamedTuple):
    """A decided record of a pairwise run."""

    cluster: str
    """The cluster of the record."""
    winner: Winner
    """Over all its repeats: a record counts once."""
    picks: tuple[tuple[Pick, Pick], ...]
    """The picks of each repeat in both orders; none for identical answers."""


def read_pairwise(folder: Path, among: tuple[float, float] | None = None) -> PairwiseView:
    """The result of a finished pairwise run, alone or among several pairs."""
    view = read_run(folder)
    rows = list(_rows(folder))
    records = len({row.index for row in rows})
    pairs = list(_pairs(rows))
    setup = view.manifest.setup
    derived = setup.derived_from
    assert derived
    assert derived.against
    against = derived.against
    clusters = _numbers([pair.cluster for pair in pairs])
    asked = [
        (picks, cluster)
        for pair, cluster in zip(pairs, clusters, strict=True)
        for picks in pair.picks
    ]
    return PairwiseView(
        run_id=view.run_id,
        folder=view.folder,
        status=view.manifest.status,
        dataset=setup.dataset_id,
        a=ComparedResponses(run_id=against.run_id, title=against.titles[0]),
        b=ComparedResponses(run_id=derived.run_id, title=against.titles[1]),
        judges=tuple(_judges(view.manifest)),
        records=records,
        rows=len(rows),
        unscored=records - len(pairs),
        identical=sum(not pair.picks for pair in pairs),
        left_out=against.left_out,
        preference=preference([pair.winner for pair in pairs], clusters, among),
        position=position_bias([picks for picks, _ in asked], [cluster for _, cluster in asked]),
    )


def read_all(folders: Sequence[Path]) -> list[PairwiseView]:
    """The results of several pairs, with p-values and intervals adjusted for all of them."""
    alone = [read_pairwise(folder) for folder in folders]
    if len(alone) < 2:
        return alone
    p_values = [1.0 if (p := one.preference.p_value) is None else p for one in alone]
    held = holm_levels(p_values, LEVEL)
    return [read_pairwise(folder, among) for folder, among in zip(folders, held, strict=True)]


def strength_table(views: Sequence[PairwiseView]) -> list[Strength]:
    """The runs of several pairwise runs with their Bradley-Terry strengths, the strongest first.

    A record's pairs are resampled together.
    """
    runs = list(dict.fromkeys(side for view in views for side in (view.a, view.b)))
    places = {side.run_id: place for place, side in enumerate(runs)}
    numbers: dict[str, int] = {}
    contests = [
        Contest(
            cluster=numbers.setdefault(pair.cluster, len(numbers)),
            first=places[view.a.run_id],
            second=places[view.b.run_id],
            share=SHARES[pair.winner],
        )
        for view in views
        for pair in _pairs(_rows(Path(view.folder)))
    ]
    if not contests:
        return []
    found = strengths_of(contests, len(runs))
    table = [
        Strength(
            run_id=side.run_id,
            title=side.title,
            strength=strength,
            won=sum(_share(one, place) for one in contests),
            met=sum(place in {one.first, one.second} for one in contests),
        )
        for place, (side, strength) in enumerate(zip(runs, found, strict=True))
    ]
    return sorted(table, key=lambda row: -cast(float, row.strength.value))


def gate_of(folder: Path, gate: ComparisonGate) -> GateResult:
    """Fail if the judge prefers A in a pairwise run, or if a margin is not shown to hold.

    Other pairs are not considered. The gate is undecided without a decision, if records without
    one, or without an answer of B, would make it fail if all of them went to A, or if it would
    not pass without the records on which the judge contradicts itself.
    """
    view = read_pairwise(folder)
    found = view.preference
    end = "" if gate.margin is None else "lower bound of the "
    looked_at = f"the {end}pairwise win rate {_rate(found)}"
    result = GateResult(name=gate.text, passed=True, looked_at=looked_at)
    # More records do not help with a judge that decides by position.
    is_blind = 0 < found.win_rate.n - FEWEST_UNITS < found.contradictions
    if found.win_rate.n and not is_blind and (why := _failure(found, gate)):
        return replace(result, passed=False, reason=why)
    reason = _undecided(view, gate) if found.win_rate.n else "no record has a decision"
    if not reason:
        return result
    return replace(result, passed=False, is_undecided=True, reason=f"cannot be compared: {reason}")


def _undecided(view: PairwiseView, gate: ComparisonGate) -> str:
    """Why a passing gate is undecided; empty if it is not.

    A judge that contradicts itself has not found two answers equal: such records are no evidence.
    """
    found = view.preference
    missing = view.unscored + view.left_out["no_answer_in_b"]
    seen = _preferred(found, missing=0)
    if found.contradictions and (seen.win_rate.n < FEWEST_UNITS or _failure(seen, gate)):
        return (
            f"the judge contradicts itself on {found.contradictions:,} of {found.win_rate.n:,} "
            "records when the order is swapped"
        )
    if _failure(_preferred(found, missing), gate):
        return f"{missing:,} record(s) without a decision could change the verdict"
    return ""


def _preferred(found: Preference, missing: int) -> Preference:
    """The preference without contradictions, and with so many more wins of A."""
    counts: dict[Winner, int] = {
        "b": found.wins,
        "a": found.losses + missing,
        "tie": found.ties,
    }
    return preference([one for one, number in counts.items() for _ in range(number)])


def _failure(found: Preference, gate: ComparisonGate) -> str:
    """Why a win rate fails a gate; empty if it passes.

    B is worse by less than N points if the whole interval of its win rate is above 50 - N.
    """
    rate, margin = found.win_rate, gate.margin
    if margin is None:
        return "the judge prefers A" if found.preferred == "a" else ""
    least = 50 - margin
    if rate.low is not None and 100 * rate.low > least:
        return ""
    if rate.high is not None and 100 * rate.high < least:
        return f"the win rate of B is below {least:g} %"
    more = ""
    if found.preferred is None and 100 * (rate.value or 0.0) > least:
        records = count(rounded(max(_needed(found, margin), rate.n + 1)))
        more = f"; if it is not, about {records} records would show that with 80 % power"
    return f"the win rate of B may be {least:g} % or less{more}"


def _needed(found: Preference, margin: float) -> int:
    """How many records; the margin of wins minus losses is twice that of the win rate."""
    n = found.win_rate.n
    effect = n / found.win_rate.n_effective if found.win_rate.n_effective else 1.0
    return records_to_detect(2 * margin, (found.wins + found.losses) / n, max(1.0, effect))


def _rate(found: Preference) -> str:
    rate = found.win_rate
    return f"{rate_text(rate)}, n = {rate.n:,}"


def _share(contest: Contest, place: int) -> float:
    """The share of a comparison that a run wins."""
    if place == contest.second:
        return contest.share
    return 1 - contest.share if place == contest.first else 0.0


def _rows(folder: Path) -> Iterator[PairwisePrediction]:
    return decoded_rows(folder, PREDICTIONS, read_pairwise_row)


def _pairs(rows: Iterable[PairwisePrediction]) -> Iterator[JudgedPair]:
    """The records with a decision in at least half of their repeats."""
    records: dict[int, list[PairwisePrediction]] = {}
    for row in rows:
        records.setdefault(row.index, []).append(row)
    for repeats in records.values():
        decided = [one.evaluator_scores[0].details for one in repeats if one.status == "evaluated"]
        if not decided or 2 * len(decided) < len(repeats):
            continue
        row = repeats[0]
        # runs number their records differently, and the same content is the same record
        alone = f"record {row.record_sha256}"
        yield JudgedPair(
            cluster=f"cluster {row.cluster}" if row.cluster else alone,
            winner=winner_of_record([one.winner for one in decided if one.winner]),
            picks=tuple((one.picks.ab, one.picks.ba) for one in decided if one.picks),
        )


def _numbers(clusters: Sequence[str]) -> list[int]:
    numbers: dict[str, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in clusters]


def _judges(manifest: Manifest) -> Iterator[JsonObject]:
    """The judge as it was asked, with its fingerprints."""
    for judge in manifest.judges or ():
        row, names = judge.json(), ("judge", "target", "model", "fingerprints")
        yield {name: row.get(name) for name in names}
