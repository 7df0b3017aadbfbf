"""Looks up the shared texts of requests in the folder of a run."""

from __future__ import annotations

import json
import mmap
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from steelyard.errors import UnreadableFileError
from steelyard.results.predictions import Prediction
from steelyard.results.requests import PARTS, whole_row

_FILE = "input_dataset.json"
_BEGIN = f'\n],"{PARTS}":{{\n'.encode("ascii")
_RECENT = 64


def whole_rows(folder: Path, rows: Iterable[Prediction]) -> Iterator[Prediction]:
    """Predictions with full requests."""
    with closing(RequestParts(folder)) as parts:
        for row in rows:
            yield whole_row(row, parts.text)


class RequestParts:
    """Looks up texts by hash in a file ordered by hash; eight bytes per text."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._data: mmap.mmap | None = None
        self._lines = array("Q")
        self.text = lru_cache(_RECENT)(self._text)

    def close(self) -> None:
        """Close the file."""
        if self._data is not None:
            self._data.close()

    def _text(self, sha256: str) -> str:
        data = self._data or self._opened()
        key = sha256.encode("ascii")
        number = bisect_left(cast(Any, self._lines), key, key=lambda at: data[at + 1 : at + 65])
        if number < len(self._lines):
            start = self._lines[number]
            if data[start + 1 : start + 65] == key:
                end = data.find(b"\n", start)
                return json.loads(data[start + 67 : end].removesuffix(b","))
        raise UnreadableFileError(f"{self._path} is damaged; `steelyard verify` says how")

    def _opened(self) -> mmap.mmap:
        try:
            with self._path.open("rb") as stream:
                data = self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise UnreadableFileError(f"cannot read {self._path}: {error}") from None
        place = data.find(_BEGIN)
        start = place + len(_BEGIN) if place >= 0 else len(data)
        while data[start : start + 1] == b'"':
            self._lines.append(start)
            start = data.find(b"\n", start) + 1
        return data
