"""Reads Parquet and Arrow files, for which polars must be installed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from steelyard.errors import InvalidError, UnreadableFileError
from steelyard.formats.records import Record
from steelyard.model.json_value import JsonValue

if TYPE_CHECKING:
    import polars as pl

FRAMES = (".parquet", ".arrow", ".feather", ".ipc")
_BATCH = 10_000


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
        yield from polars.scan_parquet(path).collect_batches(
            chunk_size=_BATCH, maintain_order=True
        )
        return
    # `datasets` writes the stream form; other tools write the file form, which has a magic word.
    with path.open("rb") as stream:
        is_file_form = stream.read(6) == b"ARROW1"
    read = polars.read_ipc if is_file_form else polars.read_ipc_stream
    yield from read(path).iter_slices(_BATCH)


def _record(number: int, row: Mapping[str, Any]) -> Record:
    place = f"row {number}"
    try:
        return Record(place, {name: _json(value) for name, value in row.items()})
    except TypeError as wrong:
        return Record(place, None, str(wrong))


def _json(value: Any) -> JsonValue:
    """A cell as JSON; what is not a number stands for a missing one."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        members = cast(Mapping[str, Any], value)
        return {name: _json(item) for name, item in members.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in cast(list[Any], value)]
    raise TypeError(f"a cell holds {type(value).__name__}, which JSON has no place for")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
