"""The calls to judges that a process has claimed before it makes them."""

from __future__ import annotations

from itertools import islice

from steelyard.engine.claims import Claimed, Claims
from steelyard.engine.judging.judge_request import JudgeRequest
from steelyard.engine.judging.judge_targets import Coming
from steelyard.engine.record_work import EngineContext
from steelyard.results.attempts import Attempt


def judge_claims(
    name: str, around: EngineContext, limit: int, coming: Coming
) -> Claims[tuple[JudgeRequest, int]]:
    """The calls to judges through one target that may be under way.

    Those that wait for a slot come next, and are claimed in the commits of those before them.
    """

    def place(call: tuple[JudgeRequest, int]) -> tuple[int, int, str]:
        return call[0].place

    def logged(call: tuple[JudgeRequest, int]) -> Attempt:
        return call[0].call_of(call[1])

    def upcoming(count: int) -> list[tuple[JudgeRequest, int]]:
        return [*islice(coming.values(), count)]

    how: Claimed[tuple[JudgeRequest, int]] = Claimed(name, place, logged, upcoming)
    return Claims(how, around.ledger, around.clock.stamp, limit)
