"""The work that one page may take: texts beyond it are shown as they are.

A page shows texts that models and strangers wrote. A text may be made to cost much to format or to
compare, so what a page spends on all of them together is limited.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


class Spendable:
    """An amount of work that can be spent once."""

    def __init__(self, amount: int) -> None:
        self._left = amount

    def spend(self, amount: int) -> bool:
        """Take an amount; False, and nothing is taken, where less is left."""
        if amount > self._left:
            return False
        self._left -= amount
        return True


@dataclass(frozen=True, slots=True)
class PageBudget:
    """What one page may spend; each part takes about a second at worst."""

    signs: Spendable = field(default_factory=lambda: Spendable(40_000))
    """Characters of Markdown other than letters, digits and spaces: they take the time."""
    word_pairs: Spendable = field(default_factory=lambda: Spendable(5_000_000))
    """Pairs of words that are compared to find those that differ."""
    searched: Spendable = field(default_factory=lambda: Spendable(50_000_000))
    """Characters in which quotations are looked for."""


_CURRENT: ContextVar[PageBudget | None] = ContextVar("page_budget", default=None)


@contextmanager
def limited_page() -> Generator[None]:
    """Limit what is formatted and compared until the end, as for one page."""
    before = _CURRENT.set(PageBudget())
    try:
        yield
    finally:
        _CURRENT.reset(before)


def page_budget() -> PageBudget:
    """What the page that is made may still spend; a new budget outside of pages."""
    return _CURRENT.get() or PageBudget()
