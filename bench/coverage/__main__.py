"""Draw every cell of the coverage tables and write them into docs/trust.md.

Run it with `python -m bench.coverage [WORLDS]`: the same worlds every time, 2,000 a cell. It fails
where a cell does not reach what is promised.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from bench.child import ROOT
from bench.coverage import agreement, corrections, differences, judge_rates, rates
from bench.coverage.cell import Cell, Counted, count

PAGE = ROOT / "docs" / "trust.md"
WORLDS = 2_000


def all_cells() -> list[Cell]:
    """Every cell of every table."""
    families = (rates, differences, corrections, judge_rates, agreement)
    return [cell for family in families for cell in family.cells()]


def counted(place: int, worlds: int) -> Counted:
    """One cell; a process of its own finds it by its place."""
    return count(all_cells()[place], worlds)


def table(found: Sequence[Counted]) -> Iterator[str]:
    """A row a world and a column a rate or a number of labels."""
    columns = list(dict.fromkeys(one.column for one in found))
    yield f"| | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for row in dict.fromkeys(one.row for one in found):
        by_column = {one.column: shown(one) for one in found if one.row == row}
        yield f"| {row} | {' | '.join(by_column.get(name, '') for name in columns)} |"


def shown(one: Counted) -> str:
    """Coverage, or false calls, with half the mean width and how often no interval is printed."""
    if one.silent == 1:
        return "no interval"
    share = 1 - one.covered if one.is_call else one.covered
    silent = f", none in {100 * one.silent:.0f} %" if one.silent >= 0.005 else ""
    return f"{100 * share:.1f} %, ± {50 * one.width:.1f}{silent}"


def written(page: str, name: str, lines: Iterator[str]) -> str:
    """A page with a table between its marks."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}"


def main(worlds: int = WORLDS) -> int:
    """Simulate, print each cell as it comes, and write the page."""
    places = range(len(all_cells()))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found: list[Counted] = []
        for one in pool.map(partial(counted, worlds=worlds), places):
            mark = "" if one.holds else "   MISSES"
            print(f"{one.table}: {one.row}, {one.column}: {shown(one)}{mark}", flush=True)
            found.append(one)
    page = PAGE.read_text(encoding="utf-8")
    for name in dict.fromkeys(one.table for one in found):
        page = written(page, name, table([one for one in found if one.table == name]))
    PAGE.write_text(page, encoding="utf-8")
    return 0 if all(one.holds for one in found) else 1


if __name__ == "__main__":
    raise SystemExit(main(*(int(word) for word in sys.argv[1:2])))
