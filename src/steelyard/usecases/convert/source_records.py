"""The records of a source: one file, or the data files of a folder."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from steelyard.errors import InvalidError, NotFoundError, ParseError, UnreadableFileError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_fields import fields
from steelyard.formats.json_text import parse_json
from steelyard.formats.records import (
    Record,
    csv_delimiter,
    csv_records,
    json_records,
    jsonl_records,
)
from steelyard.ports import Workspace

Frames = Callable[[Path], Iterator[Record]]
FRAMES = (".parquet", ".arrow", ".feather", ".ipc")
_MAX_JSON = 1024 * 1024 * 1024
_LINES = (".jsonl", ".ndjson")
_TEXTS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
# What `datasets` writes beside the data.
_ABOUT = {"state.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json"}
_SHARD = re.compile(r"(.+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?")


class _DataFile(msgspec.Struct):
    filename: str


class _State(msgspec.Struct):
    files: list[_DataFile] | None = msgspec.field(name="_data_files", default=None)


class SourceFile(NamedTuple):
    """A data file with the split from its name or folder."""

    path: Path
    split: str = ""


def source_files(workspace: Workspace, path: Path, split: str | None) -> list[SourceFile]:
    """The data files of a path; of a folder, those of the split if one is given."""
    if workspace.is_file(path):
        return [SourceFile(path)]
    found = [entry.path for entry in workspace.expand([str(path)])]
    listed = [file for file in found if file.suffix.lower() in (*_TEXTS, *FRAMES)]
    data = [file for file in listed if file.name not in _ABOUT]
    kept = _saved(workspace, found)
    files = [SourceFile(file, _split(file, path)) for file in data if _is_data(file, kept)]
    if not files:
        known = ", ".join((*_TEXTS, *FRAMES))
        raise NotFoundError(f"no data in {path}; supported extensions: {known}")
    chosen = [file for file in files if split in {None, file.split}]
    if not chosen:
        splits = ", ".join(dict.fromkeys(file.split for file in files))
        raise InvalidError(f"{path} has no split '{split}'; it has {splits}")
    return chosen


def file_records(workspace: Workspace, file: Path, frames: Frames) -> Iterator[Record]:
    """The records of one file, by its extension; raises if it cannot be read."""
    extension = file.suffix.lower()
    if extension in FRAMES:
        yield from frames(file)
        return
    readers = {".json": json_records, ".csv": _csv_records, ".tsv": _tsv_records}
    if extension not in _TEXTS:
        known = ", ".join((*_TEXTS, *FRAMES))
        raise InvalidError(f"{file}: '{extension}' files are not supported; supported: {known}")
    try:
        with workspace.open(file) as stream:
            yield from readers.get(extension, jsonl_records)(stream)
    except ParseError as wrong:
        line = f":{wrong.line}" if wrong.line else ""
        raise UnreadableFileError(f"{file}{line}: {wrong}") from None


def export_records(workspace: Workspace, path: Path) -> Iterator[Record]:
    """The exports of a file: JSONL with one per line, or one JSON document."""
    if path.suffix.lower() in _LINES:
        with workspace.open(path) as stream:
            yield from jsonl_records(stream)
        return
    with workspace.open(path) as stream:
        data = stream.read(_MAX_JSON + 1)
    if len(data) > _MAX_JSON:
        raise UnreadableFileError(f"{path}: the file is larger than 1 GB; write JSONL")
    try:
        value = parse_json(without_bom(data))
    except ParseError as wrong:
        if _is_lines(data):
            # Exporters of collectors call a file of lines .json, too.
            yield from jsonl_records(io.BytesIO(data))
            return
        line = f":{wrong.line}" if wrong.line else ""
        raise UnreadableFileError(f"{path}{line}: {wrong}") from None
    listed = value if isinstance(value, list) else [value]
    for number, item in enumerate(listed, start=1):
        is_object = isinstance(item, dict)
        fault = "" if is_object else "must be an object"
        yield Record(f"{path.name} item {number}", fields(item) if is_object else None, fault)


def _is_lines(data: bytes) -> bool:
    """Whether the first line is an object by itself."""
    first = without_bom(data).lstrip().partition(b"\n")[0]
    try:
        return isinstance(parse_json(first), dict)
    except ParseError:
        return False


def _csv_records(stream: BinaryIO) -> Iterator[Record]:
    """Spreadsheets also write semicolons and tabs; the first line says which."""
    head = stream.readline()
    stream.seek(0)
    return csv_records(stream, csv_delimiter(head))


def _tsv_records(stream: BinaryIO) -> Iterator[Record]:
    return csv_records(stream, "\t")


def _saved(workspace: Workspace, found: list[Path]) -> dict[Path, set[str]]:
    """The data files of each folder saved by `datasets`; other files there are its cache."""
    return {
        file.parent: set(_state_files(workspace, file))
        for file in found
        if file.name == "state.json"
    }


def _state_files(workspace: Workspace, state: Path) -> Iterator[str]:
    with workspace.open(state) as stream:
        try:
            found = msgspec.json.decode(stream.read(), type=_State)
        except msgspec.MsgspecError:
            raise UnreadableFileError(f"{state}: not the JSON that `datasets` writes") from None
    yield from (file.filename for file in found.files or ())


def _is_data(file: Path, saved: dict[Path, set[str]]) -> bool:
    return file.parent not in saved or file.name in saved[file.parent]


def _split(file: Path, root: Path) -> str:
    """The split of a file: the name of its shard, else of the folder, else its own."""
    shard = _SHARD.fullmatch(file.stem)
    if shard and shard[1] != "data":
        return shard[1]
    if file.parent != root and (shard or file.stem == "data"):
        return file.parent.name
    return file.stem if not shard else ""
