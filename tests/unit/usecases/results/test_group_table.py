"""Several runs side by side."""

from __future__ import annotations

from pathlib import Path

from fakes.compared_runs import passes, run
from steelyard.usecases.results.group_table import group_table


def test_records_of_several_runs_are_rows(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / name, passes(text))
        for name, text in zip("abc", ("yn?", "yy", "nn?y"), strict=True)
    ]
    table = group_table(folders)

    assert [row.shares for row in table.rows] == [
        (1.0, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (None, None, None),
        (None, None, 1.0),
    ]
    assert table.rows[3].indices == (None, None, 3)
    assert [row.record_id for row in table.different] == ["r0", "r1"]
    assert [one.run_id for one in table.runs] == ["a", "b", "c"]


def test_each_pair_of_runs_is_counted_over_the_records_of_both(tmp_path: Path) -> None:
    folders = [
        run(tmp_path / name, passes(text))
        for name, text in zip("ab", ("yyn?", "nyy"), strict=True)
    ]

    assert group_table(folders).pairs == ((0, 1, 1, 1, 3),)


def test_no_runs_are_no_rows() -> None:
    assert group_table([]).rows == ()
