"""What people say of the records of a run, beside what the run says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.model.statistics.interval import Interval
from steelyard.results.records import Place, RecordVerdict
from steelyard.stats.arrays import np
from steelyard.stats.effective import weighted_rate
from steelyard.usecases.judges.label_sets import StatedLabel, people_of
from steelyard.usecases.results.records import Records
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import response_runs


class PeopleVerdict(NamedTuple):
    """How many of those who have read a response pass it."""

    passed: int
    votes: int

    @property
    def is_good(self) -> bool | None:
        """What most say; None if they are divided evenly."""
        return None if 2 * self.passed == self.votes else 2 * self.passed > self.votes


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOfRun:
    """The blind labels of a run under one rubric."""

    rubric: str
    verdicts: Mapping[Place, PeopleVerdict]
    differing: tuple[Place, ...]
    """Where most people say something else than the run."""
    chances: Mapping[Place, float] = field(default_factory=dict[Place, float])
    """With which chance each response was chosen to be read; empty where one is not known."""
    queue: str = ""
    """The queue for which the responses with a chance were drawn, if there were several."""

    @property
    def read(self) -> tuple[Place, ...]:
        """What people have read."""
        return tuple(self.verdicts)


def people_verdicts(ports: ReviewPorts, folder: Path, records: Records) -> PeopleOfRun | None:
    """What people say of a run, by the rubric with most labels; None where nobody has read it.

    A label of a run that this one regrades counts too, since the response is the same.
    """
    runs = response_runs(folder)
    rubrics = KnownRubrics(ports.references)
    labels = list(stored_labels(ports.annotations, Wanted(runs=runs), rubrics))
    rubric = _most_used(labels, rubrics)
    if rubric is None:
        return None
    stated: dict[tuple[str, int], StatedLabel] = {}
    found = people_of(labels, rubrics, rubric).by_response
    # The run itself comes first: what is said of it counts, and not what is said of its source.
    for place in sorted(found, key=lambda one: runs.index(one.run_id)):
        stated.setdefault((place.record_id, place.repeat), found[place])
    return _of_records(rubric, stated, records.verdicts({name for name, _ in stated}))


def people_by_slice(people: PeopleOfRun, records: Records) -> dict[tuple[str, str], Interval]:
    """How many answers of each slice people pass; those on which they are divided are left out.

    Each counts by the inverse of the chance with which it was chosen: a choice by the verdict of
    the judge would else show how the choice was made. Where a chance is not known, the rates are
    of the answers that were read alone; where answers were drawn for several queues, of those of
    one queue.
    """
    read: dict[tuple[str, str], _Read] = {}
    for row in records.predictions(tuple(people.chances) or people.read):
        is_good = people.verdicts[row.place].is_good
        groups = row.slices if isinstance(row.slices, dict) else {}
        if is_good is None:
            continue
        for name, values in groups.items():
            for value in [values] if isinstance(values, str) else values:
                found = read.setdefault((name, value), _Read([], [], []))
                found.weights.append(1 / people.chances.get(row.place, 1.0))
                found.good.append(is_good)
                found.clusters.append(row.cluster or str(row.index))
    return {place: found.rate for place, found in read.items()}


class _Read(NamedTuple):
    """The answers of a slice that people have read."""

    weights: list[float]
    good: list[bool]
    clusters: list[str]

    @property
    def rate(self) -> Interval:
        """The share that people pass."""
        numbers = np.unique(np.array(self.clusters), return_inverse=True)[1]
        return weighted_rate(np.array(self.weights), np.array(self.good, dtype=float), numbers)


def _most_used(labels: Sequence[Label], rubrics: KnownRubrics) -> str | None:
    used = Counter(rubrics.whole_name(label.rubric) for label in labels if label.is_blind)
    return used.most_common(1)[0][0] if used else None


def _of_records(
    rubric: str, stated: Mapping[tuple[str, int], StatedLabel], rows: Sequence[RecordVerdict]
) -> PeopleOfRun | None:
    """The labels at the places of their records; an id that several records have is none."""
    indices: dict[str, set[int]] = {}
    for row in rows:
        if row.record_id is not None:
            indices.setdefault(row.record_id, set()).add(row.index)
    verdicts: dict[Place, PeopleVerdict] = {}
    differing: list[Place] = []
    chances: dict[Place, float | None] = {}
    queue = _most_drawn(stated.values())
    for row in sorted(rows):
        is_named = row.record_id is not None and len(indices[row.record_id]) == 1
        name = row.record_id if is_named and row.record_id is not None else str(row.index)
        label = stated.get((name, row.repeat))
        if label is None:
            continue
        verdict = PeopleVerdict(sum(label.votes.values()), len(label.votes))
        verdicts[row.index, row.repeat] = verdict
        drawn = {chance for name, chance in label.drawn if queue in {None, name}}
        if drawn:
            chances[row.index, row.repeat] = next(iter(drawn)) if len(drawn) == 1 else None
        if None not in {verdict.is_good, row.passed} and verdict.is_good is not row.passed:
            differing.append((row.index, row.repeat))
    if not verdicts:
        return None
    return PeopleOfRun(
        rubric=rubric,
        verdicts=verdicts,
        differing=tuple(differing),
        chances={} if None in chances.values() else cast("dict[Place, float]", chances),
        queue=queue or "",
    )


def _most_drawn(stated: Iterable[StatedLabel]) -> str | None:
    """The queue with most of the responses, of those that were drawn if any was; None unless
    several have some."""
    drawn = [one for response in stated for one in response.drawn]
    queues = Counter(name for name, chance in drawn if chance is not None) or Counter(
        name for name, _ in drawn
    )
    is_one = len({name for name, _ in drawn}) == 1
    return None if is_one or not queues else queues.most_common(1)[0][0]
