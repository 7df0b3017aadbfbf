"""Rows of the engine's table on the page: one at a time, or all at once."""

from __future__ import annotations

import pytest
from bench.engine import Row, line_of, table, with_row

ROWS = [Row(f"what {name}", f"**{name}**", "goal", "–") for name in "abc"]
TEXT = table(ROWS)


@pytest.mark.parametrize("number", range(3))
def test_a_row_that_is_measured_again_changes_in_its_place(number: int) -> None:
    fresh = ROWS[number]._replace(measured="**new**")

    assert with_row(f"\n{TEXT}\n", fresh) == TEXT.replace(line_of(ROWS[number]), line_of(fresh))


def test_a_row_that_was_never_measured_comes_last() -> None:
    fresh = Row("what else", "**new**", "goal", "–")

    assert with_row(TEXT, fresh) == f"{TEXT}\n{line_of(fresh)}"
