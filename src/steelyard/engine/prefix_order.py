"""The order of calls: those whose prompts begin alike follow each other closely, not together.

Endpoints keep what they have computed for the beginning of a prompt, and forget it for others:
questions about one document are cheap while the document is still known. Two of them at the same
time would both compute it, so concurrent calls are about different documents. What becomes of a
record does not depend on when it is asked, and artifacts are in the order of the dataset.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain, islice

from steelyard.engine.record_work import Work
from steelyard.model.run import Result

ALIKE = 1024
"""Prompts that have so many characters in common at their beginning are about one document."""
WINDOW = 256
"""So many records are looked at together; more would be far from the order of the dataset."""


def by_prefix(source: Iterator[Work | Result], concurrency: int) -> Iterator[Work | Result]:
    """The same items; of long prompts as many documents in turn as there are concurrent calls."""
    for item in source:
        if _prefix(item) is None:
            yield item
        else:
            yield from _in_turn(chain((item,), islice(source, WINDOW - 1)), concurrency)


def _in_turn(window: Iterator[Work | Result], concurrency: int) -> Iterator[Work | Result]:
    groups: dict[str | int, deque[Work | Result]] = {}
    failed: Exception | None = None
    try:
        for place, one in enumerate(window):
            groups.setdefault(_prefix(one) or place, deque()).append(one)
    except Exception as error:  # noqa: BLE001 - raised again after the items before it
        failed = error
    waiting = iter(groups.values())
    turns = deque(islice(waiting, concurrency))
    while turns:
        group = turns.popleft()
        yield group.popleft()
        turns.extend((group,) if group else islice(waiting, 1))
    if failed:
        raise failed


def _prefix(item: Work | Result) -> str | None:
    """How a long prompt begins."""
    text = item.prompt.text if isinstance(item, Work) else ""
    return text[:ALIKE] if len(text) > ALIKE else None
