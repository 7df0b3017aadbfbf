"""Judges that say what a test wrote down, and checks that ask them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from fakes.targets import Said, ScriptedTarget
from fakes.work import Bench, work
from steelyard.engine.cache import AnswerCache
from steelyard.engine.judging.judge_calls import JudgeCalls, KeptBefore
from steelyard.engine.judging.judge_claims import judge_claims
from steelyard.engine.judging.judge_targets import Coming, Endpoint, JudgeTarget
from steelyard.engine.judging.judged_records import JudgedRecords
from steelyard.engine.limiter import Limiter
from steelyard.engine.phase import JudgesPhase, Phase
from steelyard.engine.record_work import EngineContext, Work
from steelyard.engine.records import RecordLoop
from steelyard.engine.slots import Slots
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.judgement import Asker, JudgeCall
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.ports import Request

JUDGE = Judge(id="fair", version="1.0.0", template="Is {{ output }} right?", sha256="a" * 64)
SCHEMA: JsonObject = {"type": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AsksJudge:
    """Passes when the judge says yes to every item, all asked at once; unscored when it fails."""

    kind: ClassVar[str] = "asks_judge"

    judge: Judge = JUDGE
    items: tuple[str | None, ...] = (None,)
    target: str | None = None
    is_in_turn: bool = False
    """Whether each item is asked about when the one before has its reply."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """Ask about each item."""
        calls = [self.call(trace, case, asker, item) for item in self.items]
        if self.is_in_turn:
            replies = [await asker.ask(call) for call in calls]
        else:
            replies = await asyncio.gather(*(asker.ask(call) for call in calls))
        is_right = all(reply.text == "yes" for reply in replies)
        return Outcome.passing("right") if is_right else Outcome.failing("wrong")

    def call(self, trace: Trace, case: Case, asker: Asker, item: str | None) -> JudgeCall:
        """What is asked about an item."""
        nonce = asker.secret(f"nonce {item}").hex()
        return JudgeCall(
            judge=self.judge,
            messages=(("user", f"{case.id} {item} <{nonce}>{trace.response}</{nonce}>"),),
            schema=SCHEMA,
            identity="identity",
            nonce=nonce,
            item=item,
            target=self.target,
        )


def judged_rubric(*checks: AsksJudge) -> Rubric:
    """A rubric that needs judges; the first check is `right`, others `right1` and so on."""
    entries = [
        RubricCheck(id=f"right{place or ''}", check=check)
        for place, check in enumerate(checks or (AsksJudge(),))
    ]
    return Rubric(id="judged", version="1.0.0", checks=tuple(entries), combine="all_pass")


def judged_work(index: int, *checks: AsksJudge, repeat: int = 0) -> Work:
    """The record `r<index>`, which passes when its judges say yes."""
    return replace(work(index, repeat=repeat), rubric=judged_rubric(*checks))


class ScriptedJudge(ScriptedTarget):
    """Answers by `record` or `record/item`, one line a call; yes where it has no script."""

    def __init__(
        self,
        script: Mapping[str, Sequence[Said]] | None = None,
        *,
        name: str = "judge",
        otherwise: Said = "yes",
    ) -> None:
        super().__init__(script, name=name, otherwise=otherwise)

    async def ask(self, request: Request) -> Trace:
        """The next line for this call."""
        judged = request.judged
        name = request.case.id
        if judged and judged.item and f"{name}/{judged.item}" in self._script:
            name = f"{name}/{judged.item}"
        return await super().ask(request._replace(case=replace(request.case, id=name)))


class JudgeBench(Bench):
    """The same with judges: one target for all of them, unless a check names another."""

    def __init__(self, *judges: ScriptedTarget, target: ScriptedTarget | None = None) -> None:
        super().__init__(target)
        self.judges: Mapping[str, ScriptedTarget] = {
            judge.name: judge for judge in judges or (ScriptedJudge(),)
        }
        self.judge_price: tuple[float, float] | None = None
        self.endpoint = Endpoint()
        self.is_claiming = False
        self.at_once = 4
        self.before: dict[tuple[int, int], KeptBefore] = {}
        self.judge_cache: AnswerCache | None = None
        self.limiter = Limiter(self.clock, 8)
        self.judge_limiter: Limiter | None = None
        self.calls: JudgeCalls | None = None
        self.records: JudgedRecords | None = None

    @property
    def judge(self) -> ScriptedTarget:
        """The first of the judges."""
        return next(iter(self.judges.values()))

    def made(self, around: EngineContext, phase: Phase) -> JudgeCalls:
        """The calls of a run."""
        limiter = self.judge_limiter or Limiter(self.clock, 8)
        coming: dict[str, Coming] = {name: {} for name in self.judges}
        targets = {
            name: JudgeTarget(
                name=name,
                target=target,
                limiter=limiter,
                slots=Slots(16),
                claims=judge_claims(name, around, 16, coming[name]) if self.is_claiming else None,
                coming=coming[name],
                endpoint=self.endpoint,
                price=self.judge_price,
                cache=self.judge_cache,
                model="m-1",
                sampling={"seed": 1},
            )
            for name, target in self.judges.items()
        }
        first = next(iter(targets))
        return JudgeCalls(
            targets, lambda call: call.target or first, around, JudgesPhase(phase), b"secret"
        )

    def judged(self, items: Iterable[Work]) -> tuple[RecordLoop, JudgedRecords]:
        """A loop, and the records that it hands over."""
        around = self.around()
        phase = Phase(self.ledger.states[-1], self.ledger.move)
        self.calls = self.made(around, phase)
        before = self.before
        self.records = JudgedRecords(
            self.calls,
            self.at_once,
            lambda index, repeat: before.get((index, repeat), KeptBefore()),
        )
        around = replace(around, judges=self.records)
        loop = RecordLoop(iter(items), self.asked(self.limiter), around, phase)
        return loop, self.records

    async def carry(self, items: Iterable[Work], concurrency: int = 4) -> None:
        """Both to their end."""
        loop, records = self.judged(items)

        async def ask() -> None:
            await loop.run(concurrency)
            records.close()

        await asyncio.gather(ask(), records.run())

    def judge_all(self, items: Iterable[Work], concurrency: int = 4) -> None:
        """The same, time included."""

        async def run() -> None:
            await self.clock.carry(self.carry(items, concurrency))

        asyncio.run(run())
