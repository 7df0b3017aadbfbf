"""The samples of Inspect AI's log files: JSON, or `.eval`, which is a ZIP file."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from steelyard.contracts.importers.inspect_log import LogHead
from steelyard.errors import InvalidError, NotFoundError, ParseError, UnreadableFileError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_outline import has_more_values
from steelyard.formats.json_text import parse_json_either_way, raw_items, raw_members
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Workspace

if TYPE_CHECKING:
    import msgspec

ENDINGS = (".eval", ".json")
MAX_LOG = 1024 * 1024 * 1024
MAX_SAMPLE = 256 * 1024 * 1024
MAX_VALUES = 12_000_000
"""The most values of a sample; a small archive can hold far more of them than fit in memory."""
_ZSTANDARD = 93
_LOCAL_HEAD = 30
_NUMBER = re.compile(r"(\d{1,18})")
_UNPACKING = (NotImplementedError, RuntimeError, zipfile.BadZipFile, EOFError, zlib.error)
_NO_ZSTANDARD = (
    "its parts are compressed with Zstandard: pip install 'steelyard[inspect]', or convert it "
    "with `inspect log convert --to json`"
)


class LogSample(NamedTuple):
    """One sample with its place; without a value, `fault` is the reason."""

    place: str
    head: LogHead
    value: JsonObject | None
    fault: str = ""


class LogFile(NamedTuple):
    """An open log; its samples are read lazily."""

    head: LogHead
    samples: Callable[[], Iterator[LogSample]]
    changes: tuple[Change, ...]
    """Changes that concern the whole log."""


def open_logs(workspace: Workspace, path: Path) -> list[LogFile]:
    """The log that a path names, or every log of a folder, each with its samples."""
    if workspace.is_file(path):
        return [_open(workspace, path, "")]
    found = [entry.path for entry in workspace.expand([str(path)])]
    files = [file for file in found if file.suffix.lower() in ENDINGS]
    if not files:
        raise NotFoundError(f"no logs in {path}; supported extensions: {', '.join(ENDINGS)}")
    return [_open_listed(workspace, file) for file in files]


def _open_listed(workspace: Workspace, path: Path) -> LogFile:
    """A log of a folder; an unreadable one must not hide the others."""
    try:
        return _open(workspace, path, f"{path.name} ")
    except UnreadableFileError as wrong:
        nothing = LogSample(path.name, LogHead("", ""), None, str(wrong))
        return LogFile(nothing.head, lambda: iter([nothing]), ())


def _open(workspace: Workspace, path: Path, within: str) -> LogFile:
    extension = path.suffix.lower()
    if extension not in ENDINGS:
        raise InvalidError(f"{path}: logs of Inspect end in {' or '.join(ENDINGS)}")
    try:
        opened = _open_json if extension == ".json" else _open_zip
        return opened(workspace, path, within)
    except ParseError as wrong:
        line = f":{wrong.line}" if wrong.line else ""
        raise UnreadableFileError(f"{path}{line}: {wrong}") from None
    except zipfile.BadZipFile as wrong:
        raise UnreadableFileError(f"{path} is not a ZIP file: {wrong}") from None


def _open_json(workspace: Workspace, path: Path, within: str) -> LogFile:
    with workspace.open(path) as stream:
        data = without_bom(stream.read(MAX_LOG + 1))
    if len(data) > MAX_LOG:
        raise ParseError(
            "the log is larger than 1 GB; write it as .eval", code="payload_too_large"
        )
    members = raw_members(data)
    head = LogHead.read(_value(members.get("eval")))
    items = raw_items(members["samples"]) if "samples" in members else None

    def samples() -> Iterator[LogSample]:
        for number, raw in enumerate(items or [], start=1):
            yield _sample(f"{within}sample {number}", head, bytes(raw))

    status = _value(members.get("status"))
    return LogFile(head, samples, tuple(_status_changes(path, status, has_samples=bool(items))))


def _open_zip(workspace: Workspace, path: Path, within: str) -> LogFile:
    with workspace.open(path) as stream, zipfile.ZipFile(stream) as archive:
        names = archive.namelist()
        start = "header.json" if "header.json" in names else "_journal/start.json"
        if start not in names:
            raise ParseError("this is not an Inspect log: it has no header", code="invalid_json")
        header = raw_members(_member(stream, archive, start))
    head = LogHead.read(_value(header.get("eval")))
    kept = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    kept.sort(key=_in_order)

    def samples() -> Iterator[LogSample]:
        with workspace.open(path) as stream, zipfile.ZipFile(stream) as archive:
            for name in kept:
                place = f"{within}{name.removeprefix('samples/')}"
                try:
                    data = _member(stream, archive, name)
                except (ParseError, zipfile.BadZipFile) as wrong:
                    yield LogSample(place, head, None, str(wrong))
                else:
                    yield _sample(place, head, data)

    status = _value(header.get("status"))
    return LogFile(head, samples, tuple(_status_changes(path, status, has_samples=bool(kept))))


def _in_order(name: str) -> list[tuple[int, str]]:
    """Natural sort key, 2 before 10: the archive has samples in the order of their end."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(name)]


def _status_changes(path: Path, status: JsonValue, *, has_samples: bool) -> Iterator[Change]:
    if not has_samples:
        yield Change("samples", f"{path.name} holds no samples")
    elif status != "success":
        message = f"the run of {path.name} ended as {status or 'unknown'}; samples may be missing"
        yield Change("status", message)


def _sample(place: str, head: LogHead, data: bytes) -> LogSample:
    try:
        value = _parsed(data)
    except ParseError as wrong:
        return LogSample(place, head, None, str(wrong))
    if not isinstance(value, dict):
        return LogSample(place, head, None, "a sample must be an object")
    return LogSample(place, head, value)


def _value(raw: msgspec.Raw | None) -> JsonValue:
    return None if raw is None else _parsed(bytes(raw))


def _parsed(data: bytes) -> JsonValue:
    if len(data) > MAX_VALUES and has_more_values(data, MAX_VALUES):
        raise ParseError(f"it has more than {MAX_VALUES:,} values", code="payload_too_large")
    return parse_json_either_way(data)[0]


def _member(stream: BinaryIO, archive: zipfile.ZipFile, name: str) -> bytes:
    """A file of the archive, also with the compression of newer logs."""
    info = archive.getinfo(name)
    if info.file_size > MAX_SAMPLE:
        raise ParseError(f"{name} is larger than 256 MB", code="payload_too_large")
    if info.compress_type != _ZSTANDARD:
        try:
            return archive.read(info)
        except _UNPACKING as wrong:
            raise ParseError(f"{name}: {wrong}", code="invalid_json") from None
    stream.seek(info.header_offset)
    # The local header may have other extra fields than the directory at the end.
    lengths = struct.unpack("<HH", stream.read(_LOCAL_HEAD)[-4:])
    stream.seek(sum(lengths), 1)
    return _unpacked(stream.read(info.compress_size), info.file_size, name)


def _unpacked(data: bytes, size: int, name: str) -> bytes:
    try:
        zstandard: Any = import_module("zstandard")
    except ImportError:
        raise ParseError(_NO_ZSTANDARD, code="unsupported_format") from None
    try:
        unpacked = cast(bytes, zstandard.ZstdDecompressor().stream_reader(data).read(size + 1))
    except zstandard.ZstdError as wrong:
        raise ParseError(f"{name} cannot be unpacked: {wrong}", code="invalid_json") from None
    if len(unpacked) != size:
        raise ParseError(f"{name} does not have the size stated in the log", code="invalid_json")
    return unpacked
