"""Measures everything and writes the table into docs/performance.md: `python -m bench`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from bench.child import ROOT
from bench.validate import HELP_TIMES, TIMES, Result, results

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def main() -> None:
    """Measure, print each row as it comes, and write the page."""
    rows: list[Result] = []
    for row in results():
        print(f"{row.what}: {row.measured} (goal {row.goal})", flush=True)
        rows.append(row)
    write_table(PAGE, table(rows))


def table(rows: Iterable[Result]) -> str:
    """The facts of this measurement and its rows, in Markdown."""
    day = datetime.now(UTC).date()  # noqa: TID251 - a date for people, not for a run
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    times = f"medians of {TIMES} runs, of {HELP_TIMES} for `--help`"
    version = f"Python {platform.python_version()}"
    lines = [
        f"Measured by `python -m bench` on {day}: {machine}, {version}; {times}.",
        "",
        "| what | measured | goal | first bar |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines)


def write_table(page: Path, text: str) -> None:
    """Put the table between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
