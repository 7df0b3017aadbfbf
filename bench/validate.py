"""How fast `steelyard validate` and `steelyard --help` are, and how much memory they take."""

from __future__ import annotations

import compileall
import sys
from collections.abc import Iterator
from typing import NamedTuple

from bench.child import ROOT, STEELYARD, Cost, medians
from bench.data import ROWS, cases, document, one_record

TIMES = 5
HELP_TIMES = 20
_PARSE = "import sys, {0}; {0}.{1}(open(sys.argv[1], 'rb').read())"
_IMPORT = "import sys, {0}"


class Result(NamedTuple):
    """One row of the table."""

    what: str
    measured: str
    goal: str
    first_bar: str


def results() -> Iterator[Result]:
    """Every measurement, in the order of the table."""
    yield from document_results()
    yield from rows_results()
    yield from help_results()


def document_results() -> Iterator[Result]:
    """The large document against a bare parse of the same bytes."""
    path, python = document(), sys.executable
    cost = medians(
        {
            "validate": (*STEELYARD, "validate", path),
            "start": (*STEELYARD, "validate", one_record()),
            "msgspec": (python, "-c", _PARSE.format("msgspec", "json.decode"), path),
            "msgspec start": (python, "-c", _IMPORT.format("msgspec")),
            "json": (python, "-c", _PARSE.format("json", "loads"), path),
            "json start": (python, "-c", _IMPORT.format("json")),
        },
        TIMES,
    )
    taken = cost["validate"].cpu_s - cost["start"].cpu_s
    msgspec = cost["msgspec"].cpu_s - cost["msgspec start"].cpu_s
    json = cost["json"].cpu_s - cost["json start"].cpu_s
    size = path.stat().st_size
    name = f"{size / 1e6:.0f} MB document, 50,000 records"
    yield Result(
        f"validate a {name}: CPU against `msgspec.json.decode`",
        f"**{taken / msgspec:.2f} ×** ({taken:.2f} s to {msgspec:.2f} s)",
        "≤ 1.6 ×",
        "≤ 2.5 ×",
    )
    yield Result(
        "the same against `json.loads`",
        f"{taken / json:.2f} × ({taken:.2f} s to {json:.2f} s)",
        "–",
        "–",
    )
    yield Result(
        "the same: peak memory against the file",
        f"**{cost['validate'].peak_bytes / size:.2f} ×** "
        f"({_mb(cost['validate'])}; `msgspec` {_mb(cost['msgspec'])}, `json` {_mb(cost['json'])})",
        "≤ 1.5 ×",
        "≤ 2.5 ×",
    )


def rows_results() -> Iterator[Result]:
    """A long JSONL file, and one half as long."""
    half, whole = cases(ROWS // 2), cases(ROWS)
    cost = medians(
        {
            "whole": (*STEELYARD, "validate", whole),
            "half": (*STEELYARD, "validate", half),
            "start": (*STEELYARD, "validate", cases(1)),
        },
        TIMES,
    )
    speed = ROWS / (cost["whole"].cpu_s - cost["start"].cpu_s)
    grown = (cost["whole"].peak_bytes - cost["half"].peak_bytes) / (ROWS // 2)
    yield Result(
        f"validate {ROWS:,} JSONL rows of {whole.stat().st_size // ROWS} bytes: rows a CPU second",
        f"**{speed:,.0f}**",
        "≥ 250,000",
        "≥ 100,000",
    )
    yield Result(
        f"the same: peak memory at {ROWS // 2:,} and {ROWS:,} rows",
        f"{_mb(cost['half'])} and {_mb(cost['whole'])}: **{max(0.0, grown):.0f} bytes a row**",
        "≤ 16 bytes a row",
        "–",
    )


def help_results() -> Iterator[Result]:
    """How long a user waits for the first line."""
    compileall.compile_dir(str(ROOT / "src"), quiet=1)
    cost = medians(
        {"help": (*STEELYARD, "--help"), "python": (sys.executable, "-c", "pass")}, HELP_TIMES
    )
    yield Result(
        "`steelyard --help`, whole process",
        f"**{cost['help'].wall_s:.3f} s** (`python -c pass` {cost['python'].wall_s:.3f} s)",
        "≤ 0.12 s",
        "≤ 0.2 s",
    )


def _mb(cost: Cost) -> str:
    return f"{cost.peak_bytes / 1e6:.0f} MB"
