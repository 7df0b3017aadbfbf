"""Answers that were given already, so that the same question is not paid for twice."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable

from steelyard.engine.answer_places import AnswerPlaces
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.trace import Trace
from steelyard.ports import Prompt

_RECENT = 512
"""Answers that are held in memory until the store certainly has them."""


class AnswerCache:
    """The answers of one target, by a hash of everything that can change them.

    That is what the target is told, its settings, and the repeat, since repeats are asked in
    order to differ. Two records with the same question at the same time wait for one call.
    """

    def __init__(
        self,
        settings: str,
        recall: Callable[[bytes], Trace | None],
        known: Iterable[bytes] | AnswerPlaces = (),
    ) -> None:
        self._start = hashlib.blake2b(settings.encode("utf-8", "surrogatepass"), digest_size=16)
        self._recall = recall
        self._known = known if isinstance(known, AnswerPlaces) else _KnownKeys(known)
        self._recent: OrderedDict[bytes, Trace] = OrderedDict()
        self._asking: dict[bytes, asyncio.Future[Trace | None] | None] = {}
        """What is being asked, with what others wait for, where any do."""

    def key(self, prompt: Prompt, repeat: int) -> bytes:
        """What a question is known by."""
        asked = "".join([f"\0{role}\0{len(text)}\0{text}" for role, text in prompt.messages])
        if prompt.turns:
            asked += "".join(turn.canonical for turn in prompt.turns)
        made = self._start.copy()
        made.update(f"{asked}\0{repeat}".encode("utf-8", "surrogatepass"))
        return made.digest()

    def begin(self, key: bytes) -> bool:
        """Whether nobody has asked this yet; then the caller asks, and must `settle`."""
        if key in self._asking or key in self._recent or key in self._known:
            return False
        self._asking[key] = None
        return True

    async def find(self, key: bytes) -> Trace | None:
        """The answer, if there is one; without one the caller asks, and must `settle`."""
        while key in self._asking:
            answer = await asyncio.shield(self._awaited(key))
            if answer is not None:
                return answer
        answer = self._recent.get(key)
        if answer is not None:
            return answer
        self._asking[key] = None
        if key in self._known:
            try:
                answer = await asyncio.to_thread(self._recall, key)
            except BaseException:
                self.settle(key, None)
                raise
            if answer is not None:
                self.settle(key, answer)
        return answer

    def _awaited(self, key: bytes) -> asyncio.Future[Trace | None]:
        asking = self._asking[key]
        if asking is None:
            asking = self._asking[key] = asyncio.get_running_loop().create_future()
        return asking

    def settle(self, key: bytes, answer: Trace | None) -> None:
        """The question has been answered; or it has not, and whoever waits asks himself."""
        asking = self._asking.pop(key)
        if asking and not asking.done():
            asking.set_result(answer)
        if answer is None:
            return
        self._known.note(key)
        self._recent[key] = answer
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)


class _KnownKeys:
    """Questions that the store finds the answers of by their keys."""

    def __init__(self, keys: Iterable[bytes]) -> None:
        self._seen = SeenIds()
        for key in keys:
            self.note(key)

    def __contains__(self, key: bytes) -> bool:
        return key.hex() in self._seen

    def note(self, key: bytes) -> None:
        self._seen.add(key.hex())
