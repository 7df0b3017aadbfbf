"""The coverage tables: a small seeded version of each, and how cells are counted and shown."""

from __future__ import annotations

import pytest
from bench.coverage.__main__ import all_cells, shown, table, written
from bench.coverage.cell import Cell, Counted, count

pytestmark = pytest.mark.no_cover

CELLS = all_cells()
WORLDS = 120
SLACK = 0.06
"""About three standard errors of 120 worlds at 95 %."""
FEW = CELLS[::54]


@pytest.mark.parametrize("cell", FEW, ids=lambda one: f"{one.table} {one.row} {one.column}")
def test_a_few_cells_hold_what_is_promised(cell: Cell) -> None:
    found = count(cell, WORLDS)
    share = 1 - found.covered if cell.is_call else found.covered

    assert found.silent == 1 or (share <= 0.06 + SLACK if cell.is_call else share >= 0.92 - SLACK)
    assert found.silent == 1 or found.width > 0


@pytest.mark.trials
@pytest.mark.parametrize("cell", CELLS, ids=lambda one: f"{one.table} {one.row} {one.column}")
def test_every_cell_holds_what_is_promised(cell: Cell) -> None:
    found = count(cell, 2 * WORLDS)
    share = 1 - found.covered if cell.is_call else found.covered

    assert found.silent == 1 or (share <= 0.06 + SLACK if cell.is_call else share >= 0.92 - SLACK)


def a_cell(truth: float, *, is_call: bool = False) -> Cell:
    ends = iter([(0.4, 0.6), None, (0.2, 0.3), (0.5, 0.9)])
    return Cell("table", "row", "column", truth, lambda _: next(ends), is_call)


def test_cells_count_what_was_printed() -> None:
    found = count(a_cell(0.5), 4)

    assert found.covered == pytest.approx(2 / 3)
    assert found.width == pytest.approx(0.7 / 3)
    assert found.silent == 0.25
    assert shown(found) == "66.7 %, ± 11.7, none in 25 %"
    assert not found.holds


def test_of_equal_systems_the_false_calls_are_shown() -> None:
    found = count(a_cell(0.5, is_call=True), 4)

    assert shown(found) == "33.3 %, ± 11.7, none in 25 %"


@pytest.mark.parametrize("worlds", [50, 100, 10_000])
def test_exactly_six_false_calls_in_a_hundred_hold(worlds: int) -> None:
    uncalled = worlds * 94 // 100
    most = Counted("t", "r", "c", uncalled / worlds, 0.1, 0.0, is_call=True)

    assert most.holds
    assert not most._replace(covered=(uncalled - 1) / worlds).holds


def test_a_cell_without_intervals_says_so() -> None:
    silent = Counted("t", "r", "c", 0.0, 0.0, 1.0, is_call=False)

    assert (shown(silent), silent.holds) == ("no interval", True)


def test_a_table_has_a_row_a_world_between_the_marks_of_the_page() -> None:
    found = [
        Counted("t", "one", "a", 0.95, 0.2, 0.0, is_call=False),
        Counted("t", "one", "b", 0.96, 0.1, 0.0, is_call=False),
        Counted("t", "two", "b", 0.97, 0.1, 0.0, is_call=False),
    ]
    page = written("x\n<!-- t: begin -->\nold\n<!-- t: end -->\ny", "t", table(found))

    assert page.splitlines() == [
        "x",
        "<!-- t: begin -->",
        "| | a | b |",
        "|---|---|---|",
        "| one | 95.0 %, ± 10.0 | 96.0 %, ± 5.0 |",
        "| two |  | 97.0 %, ± 5.0 |",
        "<!-- t: end -->",
        "y",
    ]
