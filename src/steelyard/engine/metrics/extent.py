"""How many records a run has, whether or not there is a row of each."""

from __future__ import annotations

from typing import NamedTuple


class Extent(NamedTuple):
    """How far a run goes, beyond the rows that it has."""

    records: int = 0
    repeats: int = 1


ALL_ROWS = Extent()
"""Of a run that has all of its rows."""
