"""The order of calls: those whose prompts begin alike come one after the other.

Endpoints keep what they have computed for the beginning of a prompt, and forget it for others:
questions about one document are cheap while the document is still known. What becomes of a
record does not depend on when it is asked, and artifacts are in the order of the dataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from steelyard.engine.record_work import Work
from steelyard.model.run import Result

ALIKE = 1024
"""Prompts that have so many characters in common at their beginning are asked together."""
WINDOW = 256
"""So many records are looked at together; more would be far from the order of the dataset."""


def by_prefix(source: Iterator[Work | Result]) -> Iterator[Work | Result]:
    """The same items, with long prompts that begin alike side by side; short ones stay."""
    for item in source:
        if _prefix(item) is None:
            yield item
        else:
            yield from _grouped(chain((item,), islice(source, WINDOW - 1)))


def _grouped(window: Iterator[Work | Result]) -> Iterator[Work | Result]:
    groups: dict[str | None, list[Work | Result]] = {}
    failed: Exception | None = None
    try:
        for one in window:
            groups.setdefault(_prefix(one), []).append(one)
    except Exception as error:  # noqa: BLE001 - raised again after the items before it
        failed = error
    yield from chain.from_iterable(groups.values())
    if failed:
        raise failed


def _prefix(item: Work | Result) -> str | None:
    """How a long prompt begins."""
    text = item.prompt.text if isinstance(item, Work) else ""
    return text[:ALIKE] if len(text) > ALIKE else None
