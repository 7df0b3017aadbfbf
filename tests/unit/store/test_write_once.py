"""Files that are written once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steelyard.errors import RunError
from steelyard.store.write_once import DiskFiles, write_next, write_once


def test_a_file_is_whole_and_read_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.json"

    assert write_once(path, (b"one ", b"two"))
    assert path.read_bytes() == b"one two"
    assert path.stat().st_mode & 0o222 == 0
    assert list(path.parent.iterdir()) == [path]


def test_a_name_that_is_taken_stays_as_it_is(tmp_path: Path) -> None:
    write_once(tmp_path / "a", (b"first",))

    assert not write_once(tmp_path / "a", (b"second",))
    assert (tmp_path / "a").read_bytes() == b"first"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(RunError, match="cannot write"):
        write_once(tmp_path / "file" / "a", (b"",))


def test_many_writers_get_a_number_each(tmp_path: Path) -> None:
    def write(number: int) -> Path:
        return write_next(DiskFiles(), tmp_path, str(number).encode())

    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(write, range(12)))

    assert sorted(path.name for path in paths) == [f"{n:06}.json" for n in range(1, 13)]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {
        str(n).encode() for n in range(12)
    }
