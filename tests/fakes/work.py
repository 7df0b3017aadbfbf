"""Records for the engine, and the things it needs around them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable

from fakes.clock import ManualClock
from fakes.ledger import MemoryLedger
from fakes.targets import ScriptedTarget
from steelyard.checks.equals import Equals
from steelyard.engine.budget import Budget
from steelyard.engine.cache import AnswerCache
from steelyard.engine.limiter import Limiter
from steelyard.engine.phase import Phase
from steelyard.engine.prompts import build_prompt
from steelyard.engine.record_work import AskedTarget, EngineContext, Work
from steelyard.engine.records import RecordLoop
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.run import PlannedRecord, Result, RunState
from steelyard.settings import RetrySettings

SAYS_YES = Rubric(
    id="says_yes",
    version="1.0.0",
    checks=(RubricCheck(id="says_yes", check=Equals(value="yes")),),
)


def work(index: int, *, target: str = "scripted", attempt: int = 1, repeat: int = 0) -> Work:
    """The record `r<index>`, which passes when the answer is yes."""
    case = Case(id=f"r{index}", input_messages=(Message(role="user", content="?"),))
    record = PlannedRecord(index=index, record_id=case.id, target=target, repeat=repeat)
    return Work(
        record=record, case=case, prompt=build_prompt(case), rubric=SAYS_YES, attempt=attempt
    )


class Bench:
    """Record loops with a clock, a ledger and a target that the test has in its hands."""

    def __init__(
        self, target: ScriptedTarget | None = None, *, ledger: MemoryLedger | None = None
    ) -> None:
        self.clock = ManualClock()
        self.target = target or ScriptedTarget()
        self.ledger = ledger or MemoryLedger()
        self.seen: list[Result] = []
        self.retry = RetrySettings()
        self.price: tuple[float, float] | None = None
        self.counts_tokens = False
        self.budget = Budget()
        self.deadline = math.inf
        self.cache: AnswerCache | None = None
        self.on_result: Callable[[Result], None] = self.seen.append

    def loop(
        self,
        items: Iterable[Work | Result],
        state: RunState = "running",
        limiter: Limiter | None = None,
        target: ScriptedTarget | None = None,
        phase: Phase | None = None,
    ) -> RecordLoop:
        """The loop over some items; several of one run share a phase."""
        asked = self.asked(limiter or Limiter(self.clock, 1000), target)
        phase = phase or Phase(state, self.ledger.move)
        return RecordLoop(iter(items), asked, self.around(), phase)

    def around(self) -> EngineContext:
        """What the loops of a run share."""
        return EngineContext(
            ledger=self.ledger,
            clock=self.clock,
            retry=self.retry,
            chance=random.Random(7),
            on_result=self.on_result,
            budget=self.budget,
            deadline=self.deadline,
        )

    def asked(self, limiter: Limiter, target: ScriptedTarget | None = None) -> AskedTarget:
        """A target as a loop sees it."""
        return AskedTarget(
            target=target or self.target,
            limiter=limiter,
            price=self.price,
            counts_tokens=self.counts_tokens,
            cache=self.cache,
        )

    async def run(self, items: Iterable[Work | Result], concurrency: int = 4) -> None:
        """Carry the loop to its end, time included."""
        await self.clock.carry(self.loop(items).run(concurrency))

    def statuses(self) -> dict[int, str]:
        """The status of every record that is kept."""
        return {index: result.status for (index, _), result in self.ledger.results.items()}
