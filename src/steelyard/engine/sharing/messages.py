"""What workers and the process that holds their run tell each other of limits.

Everything is told when it changes; as long as a target answers, nothing is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct


class TargetJoined(Struct, frozen=True, tag=True):
    """A worker calls a target from now on."""

    target: str


class TargetAnswered(Struct, frozen=True, tag=True):
    """A target has answered a worker: for the first time, or where somebody waits to know."""

    target: str


class CallFailed(Struct, frozen=True, tag=True, kw_only=True):
    """A call has failed in a way that may be the endpoint's fault; the worker waits for word."""

    target: str
    number: int
    """By which the worker knows the decision."""
    code: str
    message: str
    http_status: int | None
    away: Literal["unavailable", "unreachable"] | None
    place: tuple[int, int]
    is_probe: bool
    is_last: bool


class WantsIn(Struct, frozen=True, tag=True):
    """A worker has a call for a target that is away."""

    target: str


class ProbeDeclined(Struct, frozen=True, tag=True):
    """A worker that was to probe has no call any more."""

    target: str


class CallsHeld(Struct, frozen=True, tag=True):
    """No call to a target may be made for so long, by a worker or by the others."""

    target: str
    seconds: float


class CallsWanted(Struct, frozen=True, tag=True):
    """How many calls at once a worker could use; it tells when that changes for long."""

    target: str
    calls: int


class CallsKept(Struct, frozen=True, tag=True):
    """How many calls at once a worker still has, after its share became smaller."""

    target: str
    calls: int


class CallsAnswered(Struct, frozen=True, tag=True):
    """So many calls of a worker were answered, which lets the allowance of the run grow."""

    target: str
    answers: int


class CallRefused(Struct, frozen=True, tag=True):
    """There were too many calls at once."""

    target: str
    cut: int
    """The number of the last cut of the allowance that the worker knows of."""
    used: float
    """The part of its share that it had in flight."""


class CallShare(Struct, frozen=True, tag=True):
    """How many calls at once a worker may make, of those of the run."""

    target: str
    calls: int
    width: int
    """The same if the target bore the most that it may get."""
    cut: int
    is_growing: bool
    """Whether answers let the allowance of the run grow."""


class PaceAsked(Struct, frozen=True, tag=True, kw_only=True):
    """A worker has calls of a target with a pace, or tells what has become of those it got."""

    target: str
    calls: int = 0
    """How many it could begin in about a second; 0 if it only tells."""
    tokens: int = 0
    """Of all of them, as estimated."""
    first: int = 0
    """Of the first of them."""
    unused: tuple[tuple[int, int, int], ...] = ()
    """Grants that are over: the number, and what calls and tokens of it were not used."""
    owed: int = 0
    """Tokens beyond the estimates, of answers since the last message."""
    late_s: float = 0.0
    """How long the last grant, and the question for it, were on their way."""


class PaceGranted(Struct, frozen=True, tag=True, kw_only=True):
    """Calls that a worker may begin, evenly in their time; it counts from this message."""

    target: str
    number: int
    calls: int
    tokens: int
    begin_s: float
    spread_s: float
    until_s: float
    """When what is not used is void."""
    waited_s: float
    """How long the question was there before."""


class TargetAway(Struct, frozen=True, tag=True):
    """Whether a target is away."""

    target: str
    is_open: bool


class AnswerAwaited(Struct, frozen=True, tag=True):
    """The next answer of a target is to be told."""

    target: str


class CallDecided(Struct, frozen=True, tag=True):
    """Whether a call that failed is made again, as if it had not been."""

    target: str
    number: int
    is_again: bool
    stopped: str = ""
    """Why the target is stopped, if it is."""


class CallAdmitted(Struct, frozen=True, tag=True):
    """A worker may call: as the only probe, or because the target is back."""

    target: str
    is_probe: bool
    stopped: str = ""


class LimitWarning(Struct, frozen=True, tag=True):
    """Something to warn of, told to the worker that has found it out."""

    target: str
    message: str


Said: TypeAlias = (
    TargetJoined
    | TargetAnswered
    | CallFailed
    | WantsIn
    | ProbeDeclined
    | CallsHeld
    | CallsWanted
    | CallsKept
    | CallsAnswered
    | CallRefused
    | PaceAsked
)
"""By a worker."""
News: TypeAlias = (
    TargetAway
    | AnswerAwaited
    | CallDecided
    | CallAdmitted
    | CallsHeld
    | LimitWarning
    | CallShare
    | PaceGranted
)
"""For a worker."""
ShareNews: TypeAlias = CallsWanted | CallsKept | CallsAnswered | CallRefused
"""By a worker, of its share of calls at once."""
Say: TypeAlias = Callable[[Said], None]
