"""How many records a run needs to show a difference, judged by earlier runs of its dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.model.detection import Detection
from steelyard.model.json_value import JsonObject
from steelyard.model.run import StoredRun
from steelyard.stats.clustered import design_effect
from steelyard.stats.power import detectable_points, records_to_detect
from steelyard.usecases.paired_rows import Record, read_records
from steelyard.usecases.planning import Prepared
from steelyard.usecases.run_ports import RunDoor

ASSUMED_DISCORDANT = 0.3
"""The share of records that one of two runs passes alone, where no runs show it."""
POWER = 0.8
_LOOKED_AT = 200
_COMPARED = 5
_FEWEST_PAIRS = 20
_UNREADABLE = (NotFoundError, UnreadableFileError)


class _Seen(NamedTuple):
    """What earlier runs show."""

    discordant: float = ASSUMED_DISCORDANT
    design_effect: float = 1.0
    per_cluster: float | None = None
    runs: tuple[str, ...] = ()


def detection_of(door: RunDoor, prepared: Prepared, points: float) -> Detection:
    """How many records a difference of so many points needs at 80 % power."""
    known = [
        run
        for run in door.repository.list(_LOOKED_AT)
        if run.dataset == prepared.dataset.id and run.summary
    ]
    seen = _from_pair(door, known) or _from_one(known) or _Seen()
    records = records_to_detect(points, seen.discordant, seen.design_effect)
    valid = prepared.outlook.valid
    return Detection(
        points=points,
        records=records,
        clusters=round(records / seen.per_cluster) if seen.per_cluster else None,
        repeats=prepared.options.repeat,
        valid_records=valid,
        detectable_points=detectable_points(valid, seen.discordant, seen.design_effect),
        power=POWER,
        discordant=seen.discordant,
        design_effect=seen.design_effect,
        pass_rate=cast("float | None", _rate(known[0])["value"]) if known else None,
        runs=seen.runs,
    )


def _from_pair(door: RunDoor, runs: Sequence[StoredRun]) -> _Seen | None:
    """From the two newest runs that share enough records and do not agree on all of them."""
    readable = _readable(door, runs)
    newest = next(readable, None)
    for run_id, records in readable:
        assert newest
        found = _compared(newest[1], records)
        if found and found.discordant:
            return found._replace(runs=(newest[0], run_id))
    return None


def _readable(
    door: RunDoor, runs: Sequence[StoredRun]
) -> Iterator[tuple[str, dict[tuple[str, int], Record]]]:
    for run in runs[:_COMPARED]:
        try:
            yield run.run_id, read_records(Path(door.artifacts(run.run_id).folder))
        except _UNREADABLE:
            continue


def _compared(a: dict[tuple[str, int], Record], b: dict[tuple[str, int], Record]) -> _Seen | None:
    pairs = [(a[key], b[key]) for key in a if key in b and a[key].scored and b[key].scored]
    if len(pairs) < _FEWEST_PAIRS:
        return None
    differences = [second.passed - first.passed for first, second in pairs]
    names: dict[object, int] = {}
    labels = [
        names.setdefault(first.cluster or place, len(names))
        for place, (first, _) in enumerate(pairs)
    ]
    return _Seen(
        # of repeats, what a pair differs by counts as far as they agree on it
        discordant=sum(one * one for one in differences) / len(pairs),
        design_effect=design_effect(differences, labels),
        per_cluster=len(pairs) / len(names) if len(names) < len(pairs) else None,
    )


def _from_one(runs: Sequence[StoredRun]) -> _Seen | None:
    """The design effect of the newest run; how two runs differ is not known."""
    if not runs:
        return None
    rate = _rate(runs[0])
    clusters, worth = rate.get("clusters"), cast("float | None", rate.get("n_effective"))
    if not clusters or not worth:
        return None
    n = cast(int, rate["n"])
    return _Seen(
        design_effect=max(1.0, n / worth),
        per_cluster=n / cast(int, clusters),
        runs=(runs[0].run_id,),
    )


def _rate(run: StoredRun) -> JsonObject:
    return cast(JsonObject, cast(JsonObject, run.summary)["pass_rate"])
