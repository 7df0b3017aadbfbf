"""The rows of a run as a Parquet file, for which polars must be installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from steelyard.errors import InvalidError
from steelyard.results.predictions import Prediction
from steelyard.usecases.results.exports.rows import COLUMNS, cells

_BATCH = 2_000
_WHOLE = frozenset(("index", "repeat", "input_tokens", "output_tokens", "total_tokens"))
_FRACTIONS = frozenset(("score", "raw_score", "cost_usd", "latency_ms", "first_token_ms"))


def write_parquet(rows: Iterable[Prediction], checks: Sequence[str], path: Path) -> None:
    """Write the columns of the CSV export with their types, some rows at a time."""
    try:
        polars: Any = import_module("polars")
    except ImportError:
        raise InvalidError("Parquet needs polars: pip install 'steelyard[parquet]'") from None
    schema = {name: _type(polars, name) for name in COLUMNS}
    schema |= {f"check:{name}": polars.Float64 for name in checks}

    def frames(
        columns: list[str] | None, predicate: Any, n_rows: int | None, _size: int | None
    ) -> Iterator[Any]:
        # A plain sink asks for everything.
        assert columns is None
        assert predicate is None
        assert n_rows is None
        left = iter(rows)
        while batch := [cells(row, checks) for row in islice(left, _BATCH)]:
            yield polars.DataFrame(batch, schema=schema, orient="row", strict=False)

    plugins: Any = import_module("polars.io.plugins")
    plugins.register_io_source(frames, schema=schema).sink_parquet(path)


def _type(polars: Any, name: str) -> Any:
    if name in _WHOLE:
        return polars.Int64
    if name in _FRACTIONS:
        return polars.Float64
    return polars.Boolean if name == "passed" else polars.String
