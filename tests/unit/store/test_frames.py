"""Parquet and Arrow files: rows as JSON values."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import RequestError, UnreadableFileError
from steelyard.formats.records import Record
from steelyard.store.frames import frame_records

polars: Any = import_module("polars")
ROWS = [{"id": 1, "text": "ä", "tags": ["a"], "meta": {"x": 1.5}}, {"id": 2, "text": None}]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    frame = polars.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc_stream(path)
    else:
        frame.write_ipc(path)
    return path


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
def test_rows_are_read_in_order_with_their_place(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, ROWS)

    assert list(frame_records(path)) == [
        Record("row 1", {"id": 1, "text": "ä", "tags": ["a"], "meta": {"x": 1.5}}),
        Record("row 2", {"id": 2, "text": None, "tags": None, "meta": None}),
    ]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_many_rows_come_in_batches_and_in_order(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, [{"id": number} for number in range(25_000)])

    ids = [record.value["id"] for record in frame_records(path) if record.value]

    assert ids == list(range(25_000))


def test_values_that_json_lacks_are_written_as_text_or_number(tmp_path: Path) -> None:
    row = {
        "day": date(2026, 1, 2),
        "time": datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        "price": Decimal("1.50"),
        "took": timedelta(seconds=2),
        "nan": float("nan"),
        "inf": float("inf"),
        "flag": True,
    }
    (record,) = frame_records(write(tmp_path / "a.parquet", [row]))

    assert record.value == {
        "day": "2026-01-02",
        "time": "2026-01-02T03:04:00+00:00",
        "price": 1.5,
        "took": 2.0,
        "nan": None,
        "inf": None,
        "flag": True,
    }


def test_a_row_with_bytes_is_refused_and_spoils_no_other(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"image": b"\xff"}, {"image": None}]
    first, second = frame_records(write(tmp_path / "a.parquet", rows))

    assert first.fault == "a cell holds bytes, which JSON has no place for"
    assert second.value == {"image": None}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_file_of_another_form_is_unreadable(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"this is not a table")

    with pytest.raises(UnreadableFileError, match=name):
        list(frame_records(path))


def test_without_polars_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(RequestError, match=r"pip install 'steelyard\[parquet\]'"):
        list(frame_records(tmp_path / "a.parquet"))


_PEAK = """\
import sys, time
from pathlib import Path
from steelyard.store.frames import frame_records
for number, _ in enumerate(frame_records(Path(sys.argv[1]))):
    if number % 1000 == 0:
        time.sleep(0.001)  # whoever writes a case for each row is slower than the reader
status = Path("/proc/self/status").read_text(encoding="utf-8")
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


@pytest.mark.trials
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_large_parquet_file_is_read_in_flat_memory(tmp_path: Path) -> None:
    peaks: list[int] = []
    for rows in (50_000, 300_000):
        texts = [f"question {number} " + f"{number * 7919:032x}" * 15 for number in range(rows)]
        path = tmp_path / f"{rows}.parquet"
        polars.DataFrame({"question": texts}).write_parquet(path)
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, path], capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout))

    assert peaks[1] - peaks[0] < 60, f"150 MB of text took {peaks[1]} MB, 25 MB {peaks[0]} MB"
