"""How many calls a target gets: as many as it bears, no more than it allows."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable

from steelyard.engine.allowance import START, CallAllowance
from steelyard.engine.circuit import Circuit, CircuitPort, Place
from steelyard.engine.pace import ROUNDING_S, Pace
from steelyard.engine.retries import is_bearable
from steelyard.errors import TargetError
from steelyard.ports import Clock

__all__ = ["START", "Limiter"]


class Limiter:
    """Calls at once, calls a minute and tokens a minute of one target.

    A `429` is a refusal, which cuts the allowance. A `Retry-After` holds every call back, because
    the next one would be refused as well.
    """

    def __init__(
        self,
        clock: Clock,
        most: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        circuit: CircuitPort | None = None,
    ) -> None:
        self._clock = clock
        self._allowance = CallAllowance(most)
        self._is_growing = self._allowance.is_growing
        self._room = self._allowance.at_once
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cut_at = -1.0
        self._held_until = 0.0
        self._gate = asyncio.Lock()
        self._requests = Pace(requests_per_minute)
        self._tokens = Pace(tokens_per_minute)
        self._circuit = circuit or Circuit(clock)
        self._is_paced = bool(requests_per_minute or tokens_per_minute)

    @property
    def at_once(self) -> int:
        """Calls at once that are allowed just now."""
        return self._room

    @property
    def in_flight(self) -> int:
        """Calls that are being made."""
        return self._in_flight

    @property
    def held_s(self) -> float:
        """How long an endpoint has asked for no further call."""
        return max(0.0, self._held_until - self._clock.monotonic())

    @property
    def is_probing(self) -> bool:
        """Whether the call that may be made is there to see if the target is back."""
        return self._circuit.is_open

    def on_width(self, callback: Callable[[int], None]) -> None:
        """Call back when more or fewer records shall be on their way; of a whole run, never."""

    def enter_at_once(self) -> bool:
        """Whether a call may be made without waiting for anything, and now is."""
        if self._is_held_back or self._in_flight >= self._room:
            return False
        self._in_flight += 1
        return True

    async def enter(self, tokens: int = 0) -> None:
        """Wait until a call of about so many tokens may be made; first come, first served."""
        if self._in_flight < self._room:
            self._in_flight += 1
        else:
            await self._turn()
        if self._is_held_back:
            try:
                await self._pause(tokens)
            except BaseException:
                self.leave()
                raise

    def leave(self) -> None:
        """A call is over, however it ended."""
        self._in_flight -= 1
        self._wake()

    def answered(self, expected: int = 0, used: int | None = None) -> None:
        """A call was answered; more tokens than expected are paid for by later calls."""
        if self._circuit.answered():
            self._allowance.begin_again()
            self._use_allowance()
        if self._is_growing:
            self._grow()
        if used is not None and used > expected:
            self._tokens.take(used - expected, self._clock.monotonic())

    def asked_to_wait(self, seconds: float) -> None:
        """The endpoint wants no call for so long."""
        self.hold(seconds)

    def hold(self, seconds: float) -> None:
        """Begin no call for so long."""
        self._held_until = max(self._held_until, self._clock.monotonic() + seconds)

    async def failed(
        self,
        error: TargetError,
        started: float,
        place: Place,
        left_s: float = math.inf,
        *,
        is_last: bool = False,
    ) -> bool:
        """A call that began then has failed; whether it is made again, as if it had not been."""
        if error.code == "rate_limited":
            self.refused(started, error.retry_after_s, left_s)
        elif error.away:
            self._hold(error.retry_after_s, left_s)
        return await self._circuit.failure(error, started, place, is_last=is_last)

    def refused(
        self, started: float, retry_after_s: float | None, left_s: float = math.inf
    ) -> None:
        """A call that began then was refused because there were too many."""
        now = self._clock.monotonic()
        self._hold(retry_after_s, left_s)
        # Calls that were on their way when the limit was cut say nothing about the new one.
        if started > self._cut_at:
            self._cut_at = now
            self._cut()

    @property
    def _is_held_back(self) -> bool:
        return self._is_paced or bool(self._held_until) or self._circuit.is_open

    def _hold(self, retry_after_s: float | None, left_s: float) -> None:
        # One that asks for more than a retry would wait for says so to every call.
        if retry_after_s and is_bearable(retry_after_s, left_s):
            self.asked_to_wait(retry_after_s)

    def _grow(self) -> None:
        """A call was answered, and there may be more."""
        self._allowance.grow()
        self._use_allowance()

    def _cut(self) -> None:
        """A call was refused, which is in flight no more."""
        self._allowance.cut(self._in_flight + 1)
        self._use_allowance()

    def _use_allowance(self) -> None:
        self._is_growing = self._allowance.is_growing
        self._give_room(self._allowance.at_once)

    def _give_room(self, room: int) -> None:
        self._room = room
        self._wake()

    async def _turn(self) -> None:
        """Wait until a call that ends hands its place over."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.leave()
            raise

    async def _pause(self, tokens: int) -> None:
        """One after the other, until the pace allows a call and no server asks for silence."""
        async with self._gate:
            while (wait := self._due(tokens) - self._clock.monotonic()) > ROUNDING_S:
                await self._clock.sleep(wait)
            await self._circuit.admit()
            now = self._clock.monotonic()
            self._requests.take(1, now)
            self._tokens.take(tokens, now)

    def _due(self, tokens: int) -> float:
        now = self._clock.monotonic()
        return max(self._held_until, self._requests.due(1, now), self._tokens.due(tokens, now))

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self._room:
            turn = self._waiting.popleft()
            if not turn.done():
                # The place is taken for him at once, so that nobody can slip in before.
                self._in_flight += 1
                turn.set_result(None)
