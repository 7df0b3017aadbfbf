"""The pass rate that people would find, or why it is not known."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.statistics.interval import Interval

LabelBasis: TypeAlias = Literal["own labels", "labels of another run"]
OWN_LABELS: LabelBasis = "own labels"
LABELS_OF_ANOTHER_RUN: LabelBasis = "labels of another run"


def listed_once(judges: str) -> str:
    """The judges of a jury, each once: several jurors may be one judge with other models."""
    return ", ".join(dict.fromkeys(judges.split(", ")))


class RateChange(FrozenStruct, frozen=True, kw_only=True):
    """TPR or TNR by the labels of a run, and by earlier ones."""

    here: float | None
    before: float | None
    n_here: int | None = None
    n_before: int | None = None
    p_value: float


class Drift(FrozenStruct, frozen=True, kw_only=True):
    """Whether a judge errs on a run as it did on earlier labels."""

    against: str
    """When the earlier labels were compared."""
    labelled_runs: tuple[str, ...] = ()
    tpr: RateChange
    tnr: RateChange
    is_drifted: bool
    direction: str | None = None
    """How the judge has changed; None where it has not."""


class CorrectedRate(FrozenStruct, frozen=True, kw_only=True):
    """A pass rate corrected for the errors of its judge; without a value, `reason` says why."""

    check: str | None = None
    """The check that decides the results of the run."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    n: int | None = None
    """The judged records."""
    labels: int | None = None
    design: str | None = None
    judge: str
    reason: str | None = None
    validated_at: str | None = None
    tpr: Interval | None = None
    tnr: Interval | None = None
    basis: LabelBasis | None = None
    labelled_runs: tuple[str, ...] = ()
    queue_id: str | None = None
    """The review queue in which the labels were given, if only those of one are used."""
    labels_for_5_points: int | None = None
    drift: Drift | None = None
    is_later: bool = False
    """Whether the judge was validated after the run."""

    @property
    def named(self) -> str:
        """Its judges, each once."""
        return listed_once(self.judge)

    @property
    def is_of_jury(self) -> bool:
        """Whether several jurors decide, who are validated together and not by a name."""
        return ", " in self.judge

    @property
    def clusters(self) -> int | None:
        """None: its interval allows for dependent records by itself."""
        return None

    @property
    def is_corrected(self) -> bool:
        """Whether there is a number."""
        return self.value is not None

    @property
    def is_by_judge_alone(self) -> bool:
        """Whether the judge decides every result; else other checks decide with it."""
        return self.is_corrected or self.check is not None

    @property
    def is_borrowed(self) -> bool:
        """Whether it rests on labels of another run alone."""
        return self.basis == LABELS_OF_ANOTHER_RUN

    @property
    def is_drifted(self) -> bool:
        """Whether the judge errs otherwise on this run than on earlier labels."""
        return self.drift is not None and self.drift.is_drifted


class Correction(NamedTuple):
    """The corrected rates of a run."""

    whole: CorrectedRate
    """The corrected pass rate of the run, or why there is none."""
    checks: dict[str, CorrectedRate]
    """The same for each check that judges decide."""
