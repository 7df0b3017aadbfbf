"""The calls and tokens a minute that a target gets from a run, granted to its workers."""

from __future__ import annotations

import asyncio
import math
from itertools import count
from typing import NamedTuple

from steelyard.engine.pace import ROUNDING_S, Pace, TakenUnits
from steelyard.engine.sharing.call_shares import Tell
from steelyard.engine.sharing.messages import PaceAsked, PaceGranted
from steelyard.ports import Clock

_TURN_S = 1.0
"""The time that all workers together get granted in one round."""
_AHEAD_S = 1.0
"""How long before its time a grant is told."""
_SLACK_S = 1.0
"""How much later than in its time a call may begin."""


class _Question(NamedTuple):
    asked: PaceAsked
    at: float


class _Grant(NamedTuple):
    worker: int
    calls: TakenUnits | None
    tokens: TakenUnits | None


class PaceGrants:
    """Grants parts of the one pace of the run, one after the other, to whoever asks first.

    A grant is in the minute of its last moment until its worker has said when it was over, so
    that there is no minute with too many calls, wherever in its time they begin. What a dead
    worker was granted counts as used.
    """

    def __init__(
        self, target: str, clock: Clock, paces: tuple[float | None, float | None], tell: Tell
    ) -> None:
        """`paces` are the calls and the tokens a minute."""
        self._target = target
        self._clock = clock
        self._tell = tell
        self._requests, self._tokens = map(Pace, paces)
        self._questions: dict[int, _Question] = {}
        """Workers that wait, the first first."""
        self._grants: dict[int, _Grant] = {}
        self._numbers = count()
        self._granting: asyncio.Task[None] | None = None

    def hear(self, worker: int, asked: PaceAsked) -> None:
        """A worker asks for calls, or tells what it did with those it got."""
        now = self._clock.monotonic()
        for number, calls, tokens in asked.unused:
            grant = self._grants.pop(number, None)
            if grant:
                self._requests.settle(grant.calls, calls, now)
                self._tokens.settle(grant.tokens, tokens, now)
        self._tokens.take(asked.owed, now)
        if asked.calls:
            self._questions[worker] = _Question(asked, now)
        self._begin()

    def gone(self, worker: int) -> None:
        """A worker has ended."""
        self._questions.pop(worker, None)
        for number in [number for number, one in self._grants.items() if one.worker == worker]:
            del self._grants[number]
        self._begin()

    def close(self) -> None:
        """No worker is left."""
        if self._granting:
            self._granting.cancel()

    def _begin(self) -> None:
        if self._granting:
            self._granting.cancel()
        self._granting = asyncio.ensure_future(self._grant()) if self._questions else None

    async def _grant(self) -> None:
        """Answer the questions in their order, each when its time is near."""
        while self._questions:
            worker, question = next(iter(self._questions.items()))
            calls, tokens = self._size(question.asked)
            now = self._clock.monotonic()
            due = max(self._requests.due(calls, now), self._tokens.due(tokens, now))
            if due - now > _AHEAD_S + ROUNDING_S:
                await self._clock.sleep(due - now - _AHEAD_S)
                continue
            del self._questions[worker]
            self._give(worker, question, (calls, tokens), max(due, now))

    def _size(self, asked: PaceAsked) -> tuple[int, int]:
        """As much as there is in the worker's part of a round; one call at least."""
        others = {grant.worker for grant in self._grants.values()}
        turn_s = _TURN_S / len(others.union(self._questions))
        each = asked.tokens / asked.calls
        fitting = self._tokens.within(turn_s) / each if each else math.inf
        calls = int(min(asked.calls, self._requests.within(turn_s), fitting))
        if calls <= 1:
            return 1, asked.first
        return calls, max(asked.first, math.ceil(calls * each))

    def _give(self, worker: int, question: _Question, size: tuple[int, int], begin: float) -> None:
        calls, tokens = size
        now, number = self._clock.monotonic(), next(self._numbers)
        each_s = max(self._requests.each_s, self._tokens.each_s * tokens / calls)
        until = begin + each_s * (calls - 1) + _SLACK_S + 2 * question.asked.late_s
        self._grants[number] = _Grant(
            worker,
            self._requests.take(calls, begin, until),
            self._tokens.take(tokens, begin, until),
        )
        self._tell(
            worker,
            PaceGranted(
                target=self._target,
                number=number,
                calls=calls,
                tokens=tokens,
                begin_s=begin - now,
                spread_s=each_s * calls,
                until_s=until - now,
                waited_s=now - question.at,
            ),
        )
