"""One JSON table with its columns named once, as W&B and MLflow keep tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from steelyard.results.predictions import Prediction
from steelyard.usecases.results.exports.rows import COLUMNS, cells


def export_table(rows: Iterable[Prediction], checks: Sequence[str]) -> Iterator[str]:
    """The table, a row at a time."""
    names = [*COLUMNS, *(f"check:{name}" for name in checks)]
    yield f'{{"columns": {json.dumps(names, ensure_ascii=False)}, "data": ['
    for number, row in enumerate(rows):
        yield ("," if number else "") + "\n" + json.dumps(cells(row, checks), ensure_ascii=False)
    yield "\n]}\n"
