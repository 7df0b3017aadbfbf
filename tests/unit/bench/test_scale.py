"""The table of several workers, measured in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench import scale
from bench.scale import SQLITE, Scaled, keep, kept, table

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def row(workers: int, speed: float, store: str = SQLITE) -> Scaled:
    return Scaled("local", workers, 50, speed, 0.2, 1.0, 100_000_000, store, 50_000)


def test_parts_are_kept_and_measured_anew_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale, "KEPT", tmp_path / "data" / "scale.json")

    keep(row(2, 3000.0))
    keep(row(1, 2000.0))
    keep(row(2, 4000.0))

    assert kept() == [row(1, 2000.0), row(2, 4000.0)]


def test_a_row_stands_beside_one_process_on_the_same_store() -> None:
    lines = table([row(1, 2000.0), row(2, 4000.0), row(4, 1.0, "PostgreSQL")], 50_000).splitlines()

    assert "| 2.00 × the speed, 1.00 × the CPU |" in lines[-2]
    assert "| PostgreSQL | 4 processes | **1** | 0.200 ms | – |" in lines[-1]
