"""The calls to judges that a process has claimed before it makes them."""

from __future__ import annotations

from steelyard.engine.claims import Claimed, Claims
from steelyard.engine.judging.judge_request import JudgeRequest
from steelyard.engine.record_work import EngineContext
from steelyard.results.attempts import Attempt


def _none(_count: int) -> tuple[tuple[JudgeRequest, int], ...]:
    """Nobody knows which call to a judge comes next."""
    return ()


def judge_claims(name: str, around: EngineContext, limit: int) -> Claims[tuple[JudgeRequest, int]]:
    """The calls to judges through one target that may be under way."""

    def place(call: tuple[JudgeRequest, int]) -> tuple[int, int, str]:
        return call[0].place

    def logged(call: tuple[JudgeRequest, int]) -> Attempt:
        return call[0].call_of(call[1])

    how: Claimed[tuple[JudgeRequest, int]] = Claimed(name, place, logged, _none)
    return Claims(how, around.ledger, around.clock.stamp, limit)
