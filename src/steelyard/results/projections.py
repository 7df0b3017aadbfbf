"""Parts of predictions, for readers of a million rows; the rest of a row is skipped unread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from steelyard.model.statistics.preference import Pick, Winner
from steelyard.results.predictions import Slices

NO_TRACE = b"null"
SliceValues: TypeAlias = dict[str, tuple[str, ...] | str]
"""The values of each slice; a text where a project has the slice redacted."""
COMPOSITE, SCORED = "composite", "scored"


class GradedCheck(msgspec.Struct, gc=False):
    """Whether a check graded a record."""

    check: str
    kind: str
    status: str
    judge: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"{}")

    def inner(self) -> tuple[GradedCheck, ...]:
        """The checks that a composite is joined from."""
        return _read_inner(self.details).results


class _Inner(msgspec.Struct, gc=False):
    results: tuple[GradedCheck, ...] = ()


class GradedPrediction(msgspec.Struct, gc=False):
    """What became of a record."""

    index: int
    record_id: str | None
    record_sha256: str | None
    status: str
    score: float | None
    passed: bool | None
    repeat: int = 0
    reason: str | None = None
    cluster: str | None = None
    slices: msgspec.Raw = msgspec.Raw(b"{}")
    """Left as its text, since many records share it."""
    evaluator_scores: tuple[GradedCheck, ...] = ()

    @property
    def place(self) -> tuple[int, int]:
        """Its index and repeat."""
        return self.index, self.repeat

    @property
    def is_passed(self) -> bool:
        """Whether it was evaluated and passes."""
        return self.status == "evaluated" and bool(self.passed)


class Answer(msgspec.Struct, gc=False):
    """What a target answered; the trace is left as its text."""

    index: int
    status: str = ""
    record_id: str | None = None
    record_sha256: str | None = None
    target: str | None = None
    repeat: int = 0
    model_response: str | None = None
    trace: msgspec.Raw = msgspec.Raw(NO_TRACE)
    cluster: str | None = None
    reason: str | None = None

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer at all."""
        return bytes(self.trace) != NO_TRACE


class _JudgeCall(msgspec.Struct):
    fingerprint: str | None = None


class JurorScore(msgspec.Struct):
    """What one juror says of a response."""

    judge: str = ""
    weight: float = 1.0
    status: str = SCORED
    passed: bool | None = None
    calls: list[_JudgeCall] = []


class JudgedDetails(msgspec.Struct):
    """How a check that judges decide came to what it says."""

    rule: str | None = None
    calls: list[_JudgeCall] = []
    items: list[_JudgeCall] = []
    jurors: list[JurorScore] = []

    def fingerprints(self) -> tuple[str, ...]:
        """The judges as they were asked, each once."""
        calls = [*self.calls, *self.items, *(one for juror in self.jurors for one in juror.calls)]
        found = (call.fingerprint for call in calls)
        return tuple(dict.fromkeys(mark for mark in found if mark is not None))


class JudgedCheckScore(msgspec.Struct):
    """What a check decided, whether or not it asked judges."""

    check: str
    kind: str
    status: str
    passed: bool | None = None
    judge: str | None = None
    details: msgspec.Raw = msgspec.Raw(b"{}")

    def judged(self) -> JudgedDetails:
        """How judges decided it."""
        return _read_judged_details(self.details)

    def inner(self) -> list[JudgedCheckScore]:
        """The checks that a composite is joined from."""
        return _read_judged_inner(self.details).results


class _JudgedInner(msgspec.Struct):
    results: list[JudgedCheckScore] = []


class _Messages(msgspec.Struct):
    messages: list[msgspec.Raw] = []


class JudgedPrediction(msgspec.Struct):
    """A response with what its checks decided; its messages are left as their text."""

    index: int
    repeat: int
    record_id: str | None
    record_sha256: str | None
    status: str
    passed: bool | None
    evaluator_scores: list[JudgedCheckScore]
    trace: _Messages | None = None
    cluster: str | None = None
    slices: Slices = msgspec.field(default_factory=dict[str, list[str] | str])

    @property
    def messages(self) -> list[msgspec.Raw]:
        """Those of its trace."""
        return self.trace.messages if self.trace else []

    @property
    def groups(self) -> dict[str, list[str]]:
        """The groups that its record belongs to, by slice."""
        return _groups(self.slices)


class ReviewedDetails(msgspec.Struct):
    """What review needs of a check's details, which may be anything."""

    rubric: Any = None
    results: Any = None
    """Of a composite, what its checks found."""
    disagreement: Any = None
    """Of a jury, how far its members are apart."""
    is_split: Any = None


class ReviewedCheck(msgspec.Struct):
    """What one check found."""

    check: str
    kind: str
    status: str
    passed: bool | None = None
    judge: str | None = None
    answers: Any = None
    details: ReviewedDetails = msgspec.field(default_factory=ReviewedDetails)


class _Message(msgspec.Struct):
    role: str


class _Roles(msgspec.Struct):
    messages: list[_Message]


class ReviewedPrediction(msgspec.Struct):
    """A response with what was found in it, without its text."""

    index: int
    record_id: str | None
    repeat: int
    status: str
    evaluator_scores: list[ReviewedCheck]
    trace: _Roles | None = None
    score: float | None = None
    passed: bool | None = None
    cluster: str | None = None
    slices: Slices = msgspec.field(default_factory=dict[str, list[str] | str])

    @property
    def turns(self) -> int:
        """How many turns there are to ask about: one for each message of the assistant."""
        messages = self.trace.messages if self.trace else []
        return sum(message.role == "assistant" for message in messages)

    @property
    def groups(self) -> dict[str, list[str]]:
        """The groups that its record belongs to, by slice."""
        return _groups(self.slices)

    def checks(self) -> Iterator[tuple[str, ReviewedCheck, str | None]]:
        """Every check with its name and the rubric within which it stands, composites opened."""
        yield from _checks(self.evaluator_scores, "", None)


def _groups(slices: Slices) -> dict[str, list[str]]:
    return {name: [one] if isinstance(one, str) else one for name, one in slices.items()}


def _checks(
    rows: list[ReviewedCheck], before: str, rubric: str | None
) -> Iterator[tuple[str, ReviewedCheck, str | None]]:
    for row in rows:
        name = f"{before}{row.check}"
        yield name, row, rubric
        if row.kind == COMPOSITE and row.details.results is not None:
            inner = msgspec.convert(row.details.results, list[ReviewedCheck])
            # Evaluators that are composed by hand have no rubric within.
            yield from _checks(inner, f"{name}/", str(row.details.rubric or ""))


class Picks(msgspec.Struct):
    """What a judge preferred in either order of two answers."""

    ab: Pick
    ba: Pick


class PairwiseDetails(msgspec.Struct):
    """Which of two answers won."""

    winner: Winner | None = None
    picks: Picks | None = None
    is_identical: bool = False


class PairwiseCheck(msgspec.Struct):
    """A check that compares two answers."""

    status: str
    details: PairwiseDetails


class PairwisePrediction(msgspec.Struct):
    """A record of a pairwise run."""

    index: int
    record_sha256: str | None
    status: str
    evaluator_scores: list[PairwiseCheck]
    cluster: str | None = None


read_graded = msgspec.json.Decoder(GradedPrediction).decode
read_slice_values = msgspec.json.Decoder(SliceValues).decode
read_answer = msgspec.json.Decoder(Answer).decode
read_judged = msgspec.json.Decoder(JudgedPrediction).decode
read_reviewed = msgspec.json.Decoder(ReviewedPrediction).decode
read_pairwise_row = msgspec.json.Decoder(PairwisePrediction).decode
_read_inner = msgspec.json.Decoder(_Inner).decode
_read_judged_inner = msgspec.json.Decoder(_JudgedInner).decode
_read_judged_details = msgspec.json.Decoder(JudgedDetails).decode
