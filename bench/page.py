"""The page that measurements are written to, and the machine they were taken on."""

from __future__ import annotations

import os
import platform

from bench.child import ROOT

PAGE = ROOT / "docs" / "performance.md"


def machine() -> str:
    """Where the figures come from."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def section(name: str) -> str:
    """What the page says of a measurement now."""
    return _parted(name)[1].strip("\n")


def write_section(name: str, text: str) -> None:
    """Put what was measured between its marks."""
    before, _, after = _parted(name)
    begin, end = _marks(name)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def _parted(name: str) -> tuple[str, str, str]:
    begin, end = _marks(name)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    text, _, after = rest.partition(end)
    return before, text, after


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- bench {name}: begin -->", f"<!-- bench {name}: end -->"
