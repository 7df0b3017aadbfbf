"""What a person said about a record, and how they came to see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from steelyard.model.json_value import Extra, no_extra
from steelyard.model.question import Answers

Exposure: TypeAlias = Literal["blind", "after_commit", "suggested"]
"""Whether the person knew what the judge and others said: only blind labels validate judges."""
Design: TypeAlias = Literal["random", "by_label", "by_verdict"]
"""How the labelled records were chosen: by lot, balanced by what people say, or by the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One person's word on one record under one rubric."""

    record_id: str
    rubric: str
    """The rubric's reference, or for a plain pass or fail the name of what was asked."""
    annotator: str
    exposure: Exposure
    run_id: str | None = None
    """The run whose response was looked at; None where the label is about the record itself."""
    repeat: int = 0
    """Which of the run's responses to the record."""
    queue_id: str | None = None
    """The review queue in which it was given."""
    inclusion_prob: float | None = None
    """The chance with which the record was chosen to be labelled."""
    is_tie_break: bool = False
    """Whether the person was asked because others were divided on the response: it counts for what
    most say, and not for how far people agree."""
    answers: Answers | None = None
    passed: bool | None = None
    rubric_sha256: str | None = None
    """The content of the rubric under which the answers were given, where it is known."""
    extra: Extra = field(default_factory=no_extra, hash=False)

    @property
    def is_blind(self) -> bool:
        """Whether it may validate a judge."""
        return self.exposure == "blind"

    @property
    def is_picked(self) -> bool:
        """Whether it was given in a queue of records that somebody picked: it says something of
        its record, and nothing of the others."""
        return self.queue_id is not None and self.inclusion_prob is None
