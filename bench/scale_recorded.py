"""What a record costs as recorded runs grow: CPU, time, memory, and bytes on the disk.

Run it with `python -m bench.scale_recorded`; `--rows 1000000` goes that far, and with
`--artifacts s3://bucket/path` every run is made once more and sealed there. It writes its section
of docs/performance.md.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.child import STEELYARD, run
from bench.engine import FOLDER, cases, responses
from bench.page import machine, write_section

SIZES = (1_000, 10_000, 100_000)
_HEAD = ("records", "CPU a record", "time a record", "peak memory", "database", "artifacts")


class Row(NamedTuple):
    """A run of one size."""

    records: str
    cpu: str
    wall: str
    peak: str
    database: str
    artifacts: str


def main() -> None:
    """Measure, print each row as it comes, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=SIZES[-1], help="the largest run")
    parser.add_argument("--artifacts", help="an s3:// address to seal the runs at, too")
    given = parser.parse_args()
    sizes = sorted({size for size in (*SIZES, given.rows) if size <= given.rows})
    FOLDER.mkdir(parents=True, exist_ok=True)
    places = (None, given.artifacts) if given.artifacts else (None,)
    rows: list[Row] = []
    for size in sizes:
        for artifacts in places:
            rows.append(measured(size, artifacts))
            print(*rows[-1], sep=" | ", flush=True)
    write_section("scale_recorded", table(rows))


def measured(size: int, artifacts: str | None) -> Row:
    """A run of a size in a new project."""
    with tempfile.TemporaryDirectory(prefix="scale-") as place:
        root = Path(place)
        settings = f"artifacts: {artifacts}\n" if artifacts else ""
        (root / "steelyard.yaml").write_text(settings, encoding="utf-8")
        for source, name in ((cases(size), "cases.jsonl"), (responses(size), "said.jsonl")):
            shutil.copyfile(source, root / name)
        words = ("run", "cases.jsonl", "--responses", "said.jsonl", "--format", "json")
        cost = run(*STEELYARD, *words, cwd=root)
        data = root / ".steelyard"
        return Row(
            f"{size:,}{', in a bucket' if artifacts else ''}",
            f"{cost.cpu_s / size * 1000:.3f} ms",
            f"{cost.wall_s / size * 1000:.3f} ms",
            f"{cost.peak_bytes / 1e6:.0f} MB",
            f"{_size(data.glob('steelyard.db*')) / size:,.0f} bytes a record",
            f"{_size(data.glob('runs/*/*')) / size:,.0f} bytes a record",
        )


def table(rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    lines = [_HEAD, ("---",) * len(_HEAD), *rows]
    return "\n".join(
        (
            f"Measured by `python -m bench.scale_recorded`: {machine()}.",
            "",
            *(f"| {' | '.join(line)} |" for line in lines),
        )
    )


def _size(paths: Iterator[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


if __name__ == "__main__":
    main()
