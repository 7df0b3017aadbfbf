"""Texts that are kept beside the records of a run are found by their hashes."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path

import pytest

from fakes.predictions import prediction
from steelyard.errors import UnreadableFileError
from steelyard.usecases.results.request_parts import RequestParts, whole_rows

TEXTS = sorted(
    (hashlib.sha256(text.encode()).hexdigest(), text)
    for text in ("plain", 'quoted "text"', "two\nlines", "],\n{", *map(str, range(40)))
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ",\n".join(f'"{sha256}":{json.dumps(text)}' for sha256, text in TEXTS)
    text = f'{{"dataset_id":"a","records":[\n{{"index":0}}\n],"request_parts":{{\n{lines}\n}}}}\n'
    (tmp_path / "input_dataset.json").write_text(text, encoding="utf-8")
    assert json.loads(text)["request_parts"] == dict(TEXTS)
    return tmp_path


def test_every_text_is_found(folder: Path) -> None:
    with closing(RequestParts(folder)) as parts:
        assert [parts.text(sha256) for sha256, _ in TEXTS] == [text for _, text in TEXTS]


@pytest.mark.parametrize("sha256", ["0" * 64, "f" * 64])
def test_one_that_is_not_there_is_a_damaged_file(folder: Path, sha256: str) -> None:
    with closing(RequestParts(folder)) as parts, pytest.raises(UnreadableFileError):
        parts.text(sha256)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with closing(RequestParts(tmp_path)) as parts, pytest.raises(UnreadableFileError):
        parts.text("0" * 64)


def test_rows_without_a_request_are_as_they_are(tmp_path: Path) -> None:
    rows = [prediction(0), prediction(1, request={})]

    assert list(whole_rows(tmp_path, rows)) == rows
