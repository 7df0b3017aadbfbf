"""Records for the engine, and the things it needs around them."""

from __future__ import annotations

import random
from collections.abc import Iterable

from fakes.clock import ManualClock
from fakes.ledger import MemoryLedger
from fakes.targets import ScriptedTarget
from steelyard.checks.equals import Equals
from steelyard.engine.records import RecordLoop, Surroundings, Work
from steelyard.engine.retries import RetryPolicy
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.run import Result, RunState

SAYS_YES = Rubric(
    id="says_yes",
    version="1.0.0",
    checks=(RubricCheck(id="says_yes", check=Equals(value="yes")),),
)


def work(index: int, *, target: str = "scripted", attempt: int = 1, repeat: int = 0) -> Work:
    """The record `r<index>`, which passes when the answer is yes."""
    case = Case(id=f"r{index}", input_messages=(Message(role="user", content="?"),))
    result = Result(
        index=index, record_id=case.id, status="evaluated", target=target, repeat=repeat
    )
    return Work(result=result, case=case, rubric=SAYS_YES, attempt=attempt)


class Bench:
    """A record loop with a clock, a ledger and a target that the test has in its hands."""

    def __init__(
        self, target: ScriptedTarget | None = None, *, ledger: MemoryLedger | None = None
    ) -> None:
        self.clock = ManualClock()
        self.target = target or ScriptedTarget()
        self.targets = {"scripted": self.target}
        self.ledger = ledger or MemoryLedger()
        self.seen: list[Result] = []
        self.retry = RetryPolicy()
        self.prices: dict[str, tuple[float, float]] = {}
        self.limits: dict[str, int] = {}

    def loop(self, items: Iterable[Work | Result], state: RunState = "running") -> RecordLoop:
        """The loop over some items."""
        around = Surroundings(
            targets=self.targets,
            ledger=self.ledger,
            clock=self.clock,
            retry=self.retry,
            chance=random.Random(7),
            prices=self.prices,
            limits=self.limits,
            on_result=self.seen.append,
        )
        return RecordLoop(iter(items), around, state)

    async def run(self, items: Iterable[Work | Result], concurrency: int = 4) -> None:
        """Carry the loop to its end, time included."""
        await self.clock.carry(self.loop(items).run(concurrency))

    def statuses(self) -> dict[int, str]:
        """The status of every record that is kept."""
        return {index: result.status for (index, _), result in self.ledger.results.items()}
