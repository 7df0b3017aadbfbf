"""A ledger in memory, which can be slow or broken on purpose."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from steelyard.engine.claims import Claims
from steelyard.engine.states import require_move
from steelyard.errors import RunError
from steelyard.model.judgement import Judgement
from steelyard.model.run import Private, Result, RunState
from steelyard.results.attempts import Attempt

Place = TypeVar("Place")
Kept = TypeVar("Kept")


class MemoryLedger:
    """Keeps what it is given; commits at once, or when it is told to."""

    def __init__(self, state: RunState = "running", *, is_held: bool = False) -> None:
        self.results: dict[tuple[int, int], Result] = {}
        self.attempts: dict[tuple[int | None, int | None, str, int], Attempt] = {}
        self.answered: dict[tuple[int, int], Result] = {}
        self.judgements: dict[tuple[int | None, int, str], Judgement] = {}
        self.states: list[RunState] = [state]
        self.warnings: list[str] = []
        self.is_held = is_held
        self.error: RunError | None = None
        """With which everything is refused from now on."""
        self.most_uncommitted = 0
        self.hurried = 0
        self.claimed = 0
        """How often calls waited for their claim."""
        self._claims: list[Claims[Any]] = []
        self._waiting: list[tuple[Callable[[], None], asyncio.Future[None]]] = []

    def keep(
        self,
        result: Result | None,
        attempts: Sequence[Attempt],
        private: Private = (),  # noqa: ARG002
    ) -> asyncio.Future[None]:
        """Keep a result with its attempts in one transaction."""

        def put() -> None:
            kept = {(result.index, result.repeat): result} if result else {}
            self._put(kept, self.results, attempts)
            if result and result.judging:
                del self.answered[result.index, result.repeat]

        return self._enter(put)

    def keep_answer(self, result: Result, attempts: Sequence[Attempt]) -> asyncio.Future[None]:
        """Keep an answer that is yet to be judged."""
        kept = {(result.index, result.repeat): result}
        return self._enter(lambda: self._put(kept, self.answered, attempts))

    def keep_judgement(
        self, judgement: Judgement, attempts: Sequence[Attempt]
    ) -> asyncio.Future[None]:
        """Keep what came of a call to a judge."""
        kept = {(judgement.index, judgement.repeat, judgement.key): judgement}
        return self._enter(lambda: self._put(kept, self.judgements, attempts))

    def join(self, claims: Claims[Any]) -> None:
        """Have claims kept with every commit."""
        self._claims.append(claims)

    def claim(self) -> None:
        """Commit what waits, unless it is held."""
        self.claimed += 1
        if not self.is_held:
            self.commit()

    def hurry(self) -> None:
        """Commit what waits, unless it is held."""
        self.hurried += 1
        if not self.is_held:
            self.commit()

    def move(self, state: RunState) -> Awaitable[None]:
        """Keep a change of state."""

        def put() -> None:
            require_move(self.states[-1], state)
            self.states.append(state)

        return self._enter(put)

    def warn(self, message: str) -> None:
        """Keep a warning."""
        self.warnings.append(message)

    async def close(self) -> None:
        """Commit what is left."""
        self.commit()

    def commit(self) -> None:
        """Commit what waits."""
        waiting, self._waiting = self._waiting, []
        taken = [(claims, claim) for claims in self._claims if (claim := claims.take())]
        for put, kept in waiting:
            self._settle(put, kept)
        for claims, claim in taken:
            claims.committed(claim, self.error)

    def _put(
        self, kept: dict[Place, Kept], beside: dict[Place, Kept], attempts: Sequence[Attempt]
    ) -> None:
        tried = {(a.index, a.repeat, a.place, a.attempt): a for a in attempts}
        if tried.keys() & self.attempts.keys() or kept.keys() & beside.keys():
            raise RunError("refuses results: UNIQUE constraint failed")
        self.attempts.update(tried)
        beside.update(kept)

    def _enter(self, put: Callable[[], None]) -> asyncio.Future[None]:
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((put, kept))
        self.most_uncommitted = max(self.most_uncommitted, len(self._waiting))
        if not self.is_held:
            self.commit()
        return kept

    def _settle(self, put: Callable[[], None], kept: asyncio.Future[None]) -> None:
        if kept.cancelled():
            return
        try:
            if self.error:
                raise self.error
            put()
        except RunError as error:
            kept.set_exception(error)
        else:
            kept.set_result(None)
