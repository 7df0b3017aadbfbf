"""The verdicts of a run's judged checks, response by response."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.model.statistics.corrected_rate import listed_once
from steelyard.model.statistics.validation import JudgeValidation, LabelledItem
from steelyard.stats.arrays import np
from steelyard.stats.confusion import labels_of
from steelyard.stats.correction import JudgeRates, counted_rates, judge_rates
from steelyard.stats.effective import WeightShare, clustered_share
from steelyard.stats.post_stratification import LabelledRun
from steelyard.usecases.correction.judged_rows import Decision, JudgedRow, JudgedRows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(slots=True)
class CheckRows:
    """The verdicts of one check; responses without a verdict are left out."""

    judge: str = ""
    rules: set[str | None] = field(default_factory=set[str | None])
    fingerprints: set[str] = field(default_factory=set[str])
    indices: array[int] = field(default_factory=lambda: array("q"))
    repeats: array[int] = field(default_factory=lambda: array("q"))
    verdicts: array[int] = field(default_factory=lambda: array("b"))
    clusters: array[int] = field(default_factory=lambda: array("q"))
    """A cluster number for each conversation, or for each record with all its repeats."""
    agreeing: int = 0
    """The number of rows whose result equals the verdict of this check."""
    _numbers: dict[str | int, int] = field(default_factory=dict[str | int, int])

    def add(self, row: JudgedRow, decision: Decision) -> None:
        """Add the verdict on one response."""
        self.judge = decision.judge
        self.rules.add(decision.rule)
        self.fingerprints.update(decision.fingerprints)
        if decision.passed is None:
            return
        self.indices.append(row.index)
        self.repeats.append(row.repeat)
        self.verdicts.append(decision.passed)
        name = row.index if row.cluster is None else row.cluster
        self.clusters.append(self._numbers.setdefault(name, len(self._numbers)))

    @property
    def named(self) -> str:
        """Its judges, each once."""
        return listed_once(self.judge)

    @property
    def records(self) -> int:
        """How many records have a verdict."""
        return len(set(self.indices))

    @property
    def passes(self) -> WeightShare:
        """The pass rate of responses, at the effective n."""
        return clustered_share(self.passed.astype(float), np.array(self.clusters))

    @property
    def passed(self) -> NDArray[np.bool_]:
        """The verdicts."""
        return np.array(self.verdicts, dtype=np.bool_)

    @property
    def by_place(self) -> dict[tuple[int, int], bool]:
        """The verdict of each index and repeat."""
        places = zip(self.indices, self.repeats, strict=True)
        return {place: bool(verdict) for place, verdict in zip(places, self.verdicts, strict=True)}

    def labelled(self, items: Sequence[LabelledItem], *, is_weighted: bool) -> LabelledRun:
        """The verdicts together with human labels of some of the responses."""
        places = {pair: place for place, pair in enumerate(self.by_place)}
        known = [one for one in items if (one.index, one.repeat) in places]
        chances = [one.inclusion_prob or 0.0 for one in known]
        return LabelledRun(
            passed=self.passed,
            clusters=np.array(self.clusters, dtype=np.int64),
            labelled=np.array([places[one.index, one.repeat] for one in known], dtype=np.int64),
            good=np.array([one.is_good for one in known], dtype=np.bool_),
            chances=np.array(chances) if is_weighted else None,
        )


@dataclass(slots=True)
class RunRows:
    """All judged checks of a run."""

    checks: dict[str, CheckRows] = field(default_factory=dict[str, CheckRows])
    rows: int = 0
    """Rows that have a result."""
    population: str = ""
    """The population of which labels of this run are a sample."""

    @property
    def deciding(self) -> str | None:
        """The only check that decides every record; None if several do."""
        alone = (name for name, check in self.checks.items() if check.agreeing == self.rows)
        return next(alone, None)


def read_check_rows(folder: Path) -> RunRows:
    """The rows of a finished run."""
    run, rows = RunRows(), JudgedRows(folder)
    for row in rows:
        for name, decision in row.decisions.items():
            run.checks.setdefault(name, CheckRows()).add(row, decision)
        if row.passed is None:
            continue
        run.rows += 1
        for name, decision in row.decisions.items():
            run.checks[name].agreeing += decision.passed is row.passed
    run.population = rows.population
    return run


def own_items(validation: JudgeValidation, population: str) -> list[LabelledItem]:
    """The labelled items of a run over the same records with the same responses, each once."""
    return list(of_population(validation, population).items)


def of_population(validation: JudgeValidation, population: str) -> JudgeValidation:
    """A validation reduced to its runs and labels of these responses."""
    runs = {run: about for run, about in validation.populations.items() if about == population}
    own = {(one.index, one.repeat): one for one in validation.items if one.run_id in runs}
    return replace(validation, populations=runs, items=tuple(own.values()))


def is_weighted(validation: JudgeValidation) -> bool:
    """Whether labels are weighted by the inverse of their inclusion probabilities."""
    return validation.has_weights and validation.design != "by_label"


def label_rates(validation: JudgeValidation) -> JudgeRates:
    """TPR and TNR by the labels of a validation, weighted if they have inclusion probabilities."""
    if not validation.items:
        return counted_rates(validation.counts)
    return judge_rates(labels_of(validation.items, is_weighted=is_weighted(validation)))
