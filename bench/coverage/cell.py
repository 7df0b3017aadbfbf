"""One cell of a table: a kind of world, drawn many times, and how its intervals did."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Ends = tuple[float, float] | None
"""An interval; None where none is printed."""
Draw = Callable[[np.random.Generator], Ends]
LEAST = 0.92
"""The least share of intervals that must hold the truth."""
LEAST_UNCALLED = 0.94
"""The least share of equal systems that must not be called different: 6 % may be."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A world with its truth: `draw` makes one and gives the interval that is printed for it."""

    table: str
    row: str
    column: str
    truth: float
    draw: Draw
    is_call: bool = False
    """Whether what counts is how often an interval excludes the truth: a false call."""


class Counted(NamedTuple):
    """What became of a cell."""

    table: str
    row: str
    column: str
    covered: float
    """Of the intervals that were printed, the share that held the truth."""
    width: float
    silent: float
    """The share of worlds for which no interval is printed."""
    is_call: bool

    @property
    def holds(self) -> bool:
        """Whether it reaches what is promised."""
        if self.silent == 1:
            return True
        return self.covered >= (LEAST_UNCALLED if self.is_call else LEAST)


def count(cell: Cell, worlds: int) -> Counted:
    """Draw the worlds of a cell, the same ones every time."""
    chance = np.random.default_rng(zlib.crc32(f"{cell.table} {cell.row} {cell.column}".encode()))
    held, width, printed = 0, 0.0, 0
    for _ in range(worlds):
        ends = cell.draw(chance)
        if ends is None:
            continue
        printed += 1
        held += ends[0] - 1e-12 <= cell.truth <= ends[1] + 1e-12
        width += ends[1] - ends[0]
    share = held / printed if printed else 0.0
    mean = width / printed if printed else 0.0
    silent = 1 - printed / worlds
    return Counted(cell.table, cell.row, cell.column, share, mean, silent, cell.is_call)
