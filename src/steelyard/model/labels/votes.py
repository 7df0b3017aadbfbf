"""How people voted on one response."""

from __future__ import annotations

from typing import NamedTuple


class ResponseVotes(NamedTuple):
    """The people who read a response without having seen a verdict, and how many pass it."""

    passes: int
    people: int

    @property
    def is_good(self) -> bool | None:
        """The majority; None if people are divided evenly."""
        return None if 2 * self.passes == self.people else 2 * self.passes > self.people
