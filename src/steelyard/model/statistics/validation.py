"""How well a judge agreed with people: everything that a corrected rate rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.labels.label import Design
from steelyard.model.statistics.agreement import Estimate

Split: TypeAlias = Literal["train", "dev", "test"]
SplitChoice: TypeAlias = Literal["dev", "test", "all"]
"""Which labels are looked at: those for tuning, those that count, or all but the examples."""


class LabelledItem(FrozenStruct, frozen=True, kw_only=True):
    """A response about which both people and the judge have said something."""

    run_id: str
    """The run whose response it is."""
    index: int
    repeat: int
    record_id: str
    is_good: bool
    """What people say."""
    is_passed: bool
    """What the judge says."""
    inclusion_prob: float | None = None
    cluster: str | None = None
    """The conversation of its record, or its named cluster; None where it has none."""
    slices: tuple[tuple[str, str], ...] = ()


class LeftOut(FrozenStruct, frozen=True, kw_only=True):
    """Labels that a validation does not count, and why."""

    not_blind: int = 0
    """Labels of people who had seen what the judge or others said."""
    other_rubrics: int = 0
    """Labels of another rubric."""
    other_content: int = 0
    """Answers to questions that the rubric has changed since."""
    other_queues: int = 0
    """Labels given in another review queue."""
    picked: int = 0
    """Labels of records that somebody picked, not chance."""
    other_runs: int = 0
    """Labels of responses of other runs."""
    no_run: int = 0
    """Labels that do not say of which run the response is."""
    other_splits: int = 0
    """Items that lie in another split."""
    no_pass: int = 0
    """Labels whose answers come to neither a pass nor a fail."""
    ties: int = 0
    """Items about which as many people say yes as no."""
    without_judgement: int = 0
    """Items about which the judge was never asked, or whose record has no such check."""
    unscored: int = 0
    """Items for which the judge was asked and has no score."""


class CanaryCount(FrozenStruct, frozen=True, kw_only=True):
    """One such answer, tried on several cases."""

    id: str
    asked: int
    passed: int
    unscored: int


class CanaryTally(FrozenStruct, frozen=True, kw_only=True):
    """How the judge took answers that it must fail."""

    asked: int = 0
    passed: int = 0
    unscored: int = 0
    passed_ids: tuple[str, ...] = ()
    """Which of them it passed at least once."""
    by_canary: tuple[CanaryCount, ...] = ()
    """Each by itself; empty in validations of versions that did not store it."""
    why_not: str = ""
    """Why none was asked, where none was."""

    @property
    def scored(self) -> int:
        """How many have a score."""
        return self.asked - self.unscored

    @property
    def rate(self) -> float | None:
        """The share that it passed, of those it has a score for."""
        return self.passed / self.scored if self.scored else None


class Counts(FrozenStruct, frozen=True, kw_only=True):
    """A judge against people; positive is what people pass."""

    tp: int = 0
    fn: int = 0
    tn: int = 0
    fp: int = 0

    @property
    def n(self) -> int:
        """All of them."""
        return self.tp + self.fn + self.tn + self.fp


class SliceCounts(FrozenStruct, frozen=True, kw_only=True):
    """The same within a slice."""

    slice: str
    value: str
    counts: Counts


class JurorCounts(FrozenStruct, frozen=True, kw_only=True):
    """One juror against people, over the responses about which the jury is compared with them."""

    judge: str
    weight: float
    counts: Counts
    unscored: int = 0
    """Responses for which the juror has no score."""


class JuryCounts(FrozenStruct, frozen=True, kw_only=True):
    """The members of a jury against people, each by itself."""

    jurors: tuple[JurorCounts, ...]
    n: int
    """The responses that every juror has a score for: what the correlation rests on."""
    correlation: float | None
    """ρ, the mean of all pairs of jurors; None where no two of them err differently."""
    effective_votes: float | None
    """How many independent votes the jury is worth."""
    best: int | None
    """The place, from 0, of the juror whose TPR and TNR are highest together."""
    minus_best: Estimate | None = None
    """The jury minus that juror in the mean of TPR and TNR, over the responses of both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeValidation:
    """A judge compared with people's labels, once."""

    judge: str
    """Its reference; of a check that several judges decide, the rubric's and the check's id."""
    fingerprints: tuple[str, ...]
    """Of all that it asks: the template, the question, the model and its sampling are in them."""
    rule: str
    """What makes a pass of its replies, such as `llm_judge at 0.7`."""
    validated_at: str
    counts: Counts
    label_set_sha256: str
    """The hash over the labels that count, in whatever order they came."""
    validated_against: str = ""
    """Where the labels come from."""
    queue_id: str = ""
    """The review queue in which they were given; empty where it is not that of one queue."""
    rubric: str = ""
    """What people were asked."""
    annotators: int = 0
    design: Design | None = None
    """How the labelled records were chosen; None where nobody said."""
    split: SplitChoice = "all"
    seed: int = 0
    items: tuple[LabelledItem, ...] = ()
    """Empty where only the counts are known."""
    populations: dict[str, str] = field(default_factory=dict[str, str])
    """By the run that was labelled, the hash over its records and responses."""
    left_out: LeftOut = field(default_factory=LeftOut)
    applicable_to: tuple[str, ...] | None = None
    """The bundles of the labelled cases; None where they have none."""
    slices: tuple[SliceCounts, ...] = ()
    canaries: CanaryTally = field(default_factory=CanaryTally)
    refusals: tuple[str, ...] = ()
    """Why the judge may not be relied on by it; a refusal counts as much as a good validation."""
    number: int = field(default=0, compare=False)
    """Its place among all that a project recorded: of two at the same time the last counts."""

    @property
    def has_weights(self) -> bool:
        """Whether it is known with which chance every item was chosen."""
        return bool(self.items) and all(one.inclusion_prob is not None for one in self.items)

    @property
    def is_sample_only(self) -> bool:
        """Whether its TPR and TNR show how the labels were chosen as much as how it errs.

        Labels chosen by the judge's verdict do, unless it is known with which chances; so may
        labels of which nobody said how they were chosen.
        """
        return self.design in {None, "by_verdict"} and not self.has_weights

    @property
    def is_of_unknown_design(self) -> bool:
        """Whether nobody said how the labelled records were chosen."""
        return self.design is None and not self.has_weights
