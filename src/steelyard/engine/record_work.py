"""What the loop over records works on, and with."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import field

from steelyard.engine.budget import Budget
from steelyard.engine.cache import AnswerCache
from steelyard.engine.claims import ClaimLedger
from steelyard.engine.limiter import Limiter
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.judgement import Judgement
from steelyard.model.rubric import Rubric
from steelyard.model.run import PlannedRecord, Private, Result, RunState
from steelyard.ports import Clock, Prompt, Target
from steelyard.results.attempts import Attempt
from steelyard.settings import RetrySettings

TARGET_CALL = "target"


class Work(FrozenStruct, frozen=True, kw_only=True):
    """One record in one repeat, as far as it has come."""

    record: PlannedRecord
    case: Case
    prompt: Prompt
    rubric: Rubric
    attempt: int = 1
    answered: Result | None = None
    """The result with the answer, where that was kept before and only judges are to be asked."""
    failed_with: str = ""
    """The error of the attempt before this one."""
    past: tuple[Attempt, ...] = ()
    """The calls that another run has made, where its answer is graded once more."""


class Ledger(ClaimLedger, Protocol):
    """Where results and attempts are kept; what is awaited is committed."""

    def keep(
        self, result: Result | None, attempts: Sequence[Attempt], private: Private = ()
    ) -> asyncio.Future[None]:
        """Keep a result with its attempts in one transaction; without one, `private` is said."""
        ...

    def keep_answer(self, result: Result, attempts: Sequence[Attempt]) -> asyncio.Future[None]:
        """Keep an answer that is yet to be judged, with its attempts, in one transaction."""
        ...

    def keep_judgement(
        self, judgement: Judgement, attempts: Sequence[Attempt]
    ) -> asyncio.Future[None]:
        """Keep what came of a call to a judge, with its last attempt, in one transaction."""
        ...

    def hurry(self) -> None:
        """Nothing goes on before something is committed."""
        ...

    def move(self, state: RunState) -> Awaitable[None]:
        """Keep a change of state."""
        ...


class JudgePort(Protocol):
    """Where records go that have an answer and need judges."""

    async def take(
        self,
        work: Work,
        answered: Result,
        attempts: Sequence[Attempt],
        on_kept: Callable[[], None],
    ) -> None:
        """Keep an answer and judge it; returns when there is room for the record."""
        ...


class EngineContext(FrozenStruct, frozen=True, kw_only=True):
    """What all loops of a run share."""

    ledger: Ledger
    clock: Clock
    retry: RetrySettings
    chance: random.Random
    on_result: Callable[[Result], None]
    """Told of every result once it is committed."""
    budget: Budget = field(default_factory=Budget)
    judges: JudgePort | None = None
    """Who judges; None where no rubric asks for it."""
    deadline: float = math.inf
    """When, by the clock's monotonic time, no further call is made."""

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - self.clock.monotonic()


class AskedTarget(FrozenStruct, frozen=True, kw_only=True):
    """A target as the loop sees it."""

    target: Target | None
    limiter: Limiter
    price: tuple[float, float] | None = None
    """US dollars per million input and output tokens."""
    counts_tokens: bool = False
    """Whether the limiter paces by tokens, so that they must be estimated."""
    cache: AnswerCache | None = None
    """Where the same question has the same answer."""
    on_answer: Callable[[bytes, PlannedRecord], None] | None = None
    """Told of every record that answers a question of the cache, before it is kept."""
    claims: str | None = None
    """What its claims are kept under; None where a call leaves nothing behind, as a recording."""
