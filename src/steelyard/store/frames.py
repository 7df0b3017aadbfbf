"""Reads Parquet and Arrow files, for which polars must be installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import InvalidError, UnreadableFileError
from steelyard.formats.plain_json import plain_json
from steelyard.formats.records import Record

if TYPE_CHECKING:
    import polars as pl

FRAMES = (".parquet", ".arrow", ".feather", ".ipc")
_BATCH = 20_000


def frame_records(path: Path) -> Iterator[Record]:
    """The rows of a Parquet or Arrow file, a batch at a time."""
    polars = _polars()
    number = 0
    try:
        for frame in _batches(polars, path):
            for row in frame.iter_rows(named=True):
                number += 1
                yield _record(number, row)
    except polars.exceptions.PolarsError as wrong:
        raise UnreadableFileError(f"{path}: {_first_line(wrong)}") from None


def _polars() -> Any:
    try:
        import polars as pl  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise InvalidError(
            "Parquet and Arrow files need polars: pip install 'steelyard[parquet]'"
        ) from None
    return pl


def _batches(polars: Any, path: Path) -> Iterator[pl.DataFrame]:
    if path.suffix.lower() == ".parquet":
        # Asked for batches, polars reads ahead of a slower reader, in the end the whole file.
        rows = polars.scan_parquet(path).select(polars.len()).collect().item()
        for begin in range(0, rows, _BATCH):
            yield polars.scan_parquet(path, low_memory=True).slice(begin, _BATCH).collect()
        return
    # `datasets` writes the stream form; other tools write the file form, which has a magic word.
    with path.open("rb") as stream:
        is_file_form = stream.read(6) == b"ARROW1"
    read = polars.read_ipc if is_file_form else polars.read_ipc_stream
    yield from read(path).iter_slices(_BATCH)


def _record(number: int, row: Mapping[str, Any]) -> Record:
    place = f"row {number}"
    try:
        return Record(place, {name: plain_json(value) for name, value in row.items()})
    except TypeError as wrong:
        return Record(place, None, str(wrong))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
