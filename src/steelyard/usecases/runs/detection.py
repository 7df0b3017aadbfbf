"""The number of records needed to detect a difference, estimated from earlier runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.execution.prepared import Prepared
from steelyard.model.statistics.detection import Detection
from steelyard.model.statistics.interval import Interval
from steelyard.results.metrics import kept_metrics
from steelyard.results.stored_run import StoredRun
from steelyard.stats.discordance import ASSUMED_DISCORDANT, Discordance
from steelyard.stats.power import detectable_points
from steelyard.usecases.results.paired_rows import Records, read_records
from steelyard.usecases.results.record_pairs import RecordPairs, detectable, discordance_of
from steelyard.usecases.runs.ports import RunPorts

POWER = 0.8
_LOOKED_AT = 200
_COMPARED = 5
_FEWEST_PAIRS = 20
_UNREADABLE = (NotFoundError, UnreadableFileError)


class _Seen(NamedTuple):
    """Estimates from earlier runs."""

    disagreement: Discordance = Discordance()
    per_cluster: float | None = None
    runs: tuple[str, ...] = ()


def detection_of(ports: RunPorts, prepared: Prepared, points: float) -> Detection:
    """The number of records needed to detect a difference at 80 % power."""
    known = [
        run
        for run in ports.repository.list(_LOOKED_AT)
        if run.dataset == prepared.dataset.id and run.summary
    ]
    seen = _from_pair(ports, known) or _from_one(known) or _Seen()
    found = detectable(points, prepared.options.repeat, seen.disagreement)
    valid = prepared.forecast.valid
    return Detection(
        **asdict(found),
        clusters=round(found.records / seen.per_cluster) if seen.per_cluster else None,
        valid_records=valid,
        detectable_points=detectable_points(
            valid,
            seen.disagreement.assumed,
            found.design_effect,
            repeats=found.repeats,
            between_repeats=found.between_repeats,
        ),
        power=POWER,
        pass_rate=_rate(known[0]).value if known else None,
        runs=seen.runs,
    )


def _from_pair(ports: RunPorts, runs: Sequence[StoredRun]) -> _Seen | None:
    """Estimates from the two newest runs that share enough records and differ."""
    readable = _readable(ports, runs)
    newest = next(readable, None)
    for run_id, records in readable:
        assert newest
        found = _compared(newest[1], records)
        if found and found.disagreement.observed:
            return found._replace(runs=(newest[0], run_id))
    return None


def _readable(ports: RunPorts, runs: Sequence[StoredRun]) -> Iterator[tuple[str, Records]]:
    for run in runs[:_COMPARED]:
        try:
            yield run.run_id, read_records(ports.run_folder(run.run_id))
        except _UNREADABLE:
            continue


def _compared(a: Records, b: Records) -> _Seen | None:
    common = RecordPairs((a[key], b[key]) for key in sorted(a.keys() & b.keys()))
    pairs = common.scored_in_both()
    if len(pairs) < _FEWEST_PAIRS:
        return None
    groups = len(set(pairs.clusters() or range(len(pairs))))
    return _Seen(
        disagreement=discordance_of(pairs),
        per_cluster=len(pairs) / groups if groups < len(pairs) else None,
    )


def _from_one(runs: Sequence[StoredRun]) -> _Seen | None:
    """The design effect of the newest run; the disagreement rate is unknown."""
    if not runs:
        return None
    rate = _rate(runs[0])
    if not rate.clusters or not rate.n_effective:
        return None
    shared = ASSUMED_DISCORDANT * (max(1.0, rate.n / rate.n_effective) - 1)
    return _Seen(
        disagreement=Discordance(shared=shared),
        per_cluster=rate.n / rate.clusters,
        runs=(runs[0].run_id,),
    )


def _rate(run: StoredRun) -> Interval:
    assert run.summary is not None
    return kept_metrics(run.summary).pass_rate
